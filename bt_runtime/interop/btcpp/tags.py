"""The XML names of our kinds that equal a node of BehaviorTree.CPP, for exports, logs and monitors."""

TAGS = {
    "sequence": "Sequence", "fallback": "Fallback", "reactive_sequence": "ReactiveSequence",
    "reactive_fallback": "ReactiveFallback", "sequence_with_memory": "SequenceWithMemory", "parallel": "Parallel",
    "pipeline": "PipelineSequence", "round_robin": "RoundRobin",
    "invert": "Inverter", "retry": "RetryUntilSuccessful", "repeat": "Repeat", "timeout": "Timeout", "delay": "Delay",
    "once": "RunOnce", "until_failure": "KeepRunningUntilFailure", "succeed": "AlwaysSuccess", "fail": "AlwaysFailure",
}  # fmt: skip
