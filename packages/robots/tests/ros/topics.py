"""A manifest with a skill for each way to use a topic."""

from __future__ import annotations

MANIFEST = """
version: 1
skills: nav
kinds:
  battery_above:
    impl: ros/topic
    topic: /battery_state
    type: sensor_msgs/msg/BatteryState
    params: {least: number}
    holds: percentage > least
    within: 5
    outputs: {charge: number, age: number, message: object}
    fields: {charge: percentage}
  keep_pose:
    impl: ros/subscribe
    topic: /pose
    type: geometry_msgs/msg/PoseStamped
    outputs: {pose: object, age: number}
  map_known:
    impl: ros/topic
    topic: /map_name
    type: std_msgs/msg/String
    latched: true
    outputs: {data: string}
  say:
    impl: ros/publish
    topic: /said
    type: std_msgs/msg/String
    params: {data: string}
  dock:
    impl: ros/service
    service: /dock
    type: std_srvs/srv/SetBool
    params: {data: boolean}
    succeeds: success
    outputs: {message: string}
  speed:
    impl: ros/parameter
    node: /controller_server
    parameter: FollowPath.max_vel_x
    outputs: {value: number}
  set_speed:
    impl: ros/parameter
    node: /controller_server
    parameter: FollowPath.max_vel_x
    params: {to: number}
    value: "{to}"
  where:
    impl: ros/tf
    frame: map
    child: "{what}"
    params: {what: {type: string, default: base_link}}
    outputs: {x: number, y: number, yaw: number, age: number}
"""
