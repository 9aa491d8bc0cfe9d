from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

def message_to_ordereddict(
    msg: Any, *, truncate_length: int | None = None, no_arr: bool = False, no_str: bool = False
) -> OrderedDict[str, Any]: ...
def set_message_fields(
    msg: Any, values: Mapping[str, Any], expand_header_auto: bool = False, expand_time_now: bool = False
) -> Any: ...
