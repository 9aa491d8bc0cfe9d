"""ROS 2: skills over actions, services, topics, parameters and tf; over zenoh without ROS, or on a node of rclpy."""
