"""ROS 2: skills over actions, services, topics, parameters and tf, by zenoh without ROS, or by a node of rclpy."""
