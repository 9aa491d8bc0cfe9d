"""A fleet: many robots' trees, with one place to send tasks to and to look at. Tasks, leases, verdicts and journals are
kept by a NATS server with JetStream. Nothing below the command line imports this room, and `nats` is imported only when
a connection is opened."""
