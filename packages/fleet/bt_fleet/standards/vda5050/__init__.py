"""VDA 5050 (version 2): a vehicle whose orders a master control sends by MQTT."""
