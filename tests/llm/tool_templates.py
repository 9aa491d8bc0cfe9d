"""Chat templates with tools, one in the format of each family: written for the tests, as short as they can be."""

_SAY = "{{ '<|' ~ m.role ~ '|>' ~ m.content ~ '<|end|>' }}"
_TAIL = "{% if add_generation_prompt %}<|assistant|>{% endif %}"

HERMES = (
    "{% for m in messages %}{% if m.role == 'system' %}<|system|>{{ m.content }}{% if tools %}{{ '\\n<tools>' }}"
    "{% for t in tools %}{{ '\\n' ~ t | tojson }}{% endfor %}{{ '\\n</tools>' }}{% endif %}<|end|>"
    "{% elif m.role == 'tool' %}<|user|>{{ '\\n<tool_response>\\n' ~ m.content ~ '\\n</tool_response>' }}<|end|>"
    "{% elif m.tool_calls %}<|assistant|>{% for c in m.tool_calls %}{{ '\\n<tool_call>\\n' }}"
    '{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}{{ "\\n</tool_call>" }}'
    "{% endfor %}<|end|>{% else %}" + _SAY + "{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% endif %}"
)  # fmt: skip
LLAMA = (
    "{% for m in messages %}{% if m.role == 'user' and tools %}<|user|>Answer with a call.\n\n"
    "{% for t in tools %}{{ t | tojson(indent=4) }}{{ '\\n\\n' }}{% endfor %}{{ m.content }}<|end|>"
    "{% elif m.role == 'tool' %}<|ipython|>{{ m.content | tojson }}<|end|>"
    "{% elif m.tool_calls %}<|assistant|>"
    '{"name": "{{ @.name }}", "parameters": {{ @.arguments | tojson }}}<|end|>'
    "{% else %}" + _SAY + "{% endif %}{% endfor %}" + _TAIL
)  # fmt: skip
MISTRAL = (
    "{{ bos_token }}{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system role') }}"
    "{% elif m.role == 'user' %}{% if tools %}[AVAILABLE_TOOLS][{% for t in tools %}{{ t | tojson }}"
    "{% if not loop.last %}, {% endif %}{% endfor %}][/AVAILABLE_TOOLS]{% endif %}[INST]{{ m.content }}[/INST]"
    "{% elif m.tool_calls %}{% if m.tool_calls[0].id | length != 9 %}{{ raise_exception('nine') }}{% endif %}"
    '[TOOL_CALLS][{"name": "{{ @.name }}", "arguments": {{ @.arguments | tojson }}, "id": "{{ m.tool_call_id or '
    'm.tool_calls[0].id }}"}]{{ eos_token }}'
    "{% elif m.role == 'tool' %}[TOOL_RESULTS]"
    '{"content": {{ m.content }}, "call_id": "{{ m.tool_call_id }}"}[/TOOL_RESULTS]'
    "{% else %}{{ m.content }}{{ eos_token }}{% endif %}{% endfor %}"
)  # fmt: skip
FUNCTIONARY = (
    "<|system|>{% for t in tools or [] %}Use '{{ #.name }}' to '{{ #.description }}'\n"
    "{{ # | tojson }}\n\n{% endfor %}<|end|>{% for m in messages %}"
    "{% if m.role == 'tool' %}<|ipython|>{{ m.content }}<|end|>"
    "{% elif m.tool_calls %}<|assistant|><function={{ @.name }}>"
    "{{ @.arguments | tojson }}</function><|eom|>"
    "{% else %}" + _SAY + "{% endif %}{% endfor %}" + _TAIL
)  # fmt: skip
HARMONY = (
    "{% for m in messages %}{% if m.role == 'system' %}<|start|>developer<|message|>{{ m.content }}{% if tools %}"
    "{{ '\\nnamespace functions {\\n\\n' }}{% for t in tools %}// {{ #.description }}\ntype {{ #.name }} = "
    "{% if #.parameters.properties %}(_: {\n{% for p, s in #.parameters.properties.items() %}"
    "{{ p }}: {{ 'number' if s.type == 'integer' else s.type }},\n{% endfor %}}) => any;{% else %}() => any;{% endif %}"
    "{{ '\\n\\n' }}{% endfor %}}{% endif %}<|end|>"
    "{% elif m.role == 'tool' %}<|start|>functions.{{ m.name }} to=assistant<|message|>{{ m.content | tojson }}<|end|>"
    "{% elif m.tool_calls %}<|start|>assistant to=functions.{{ @.name }}<|channel|>commentary json"
    "<|message|>{{ @.arguments | tojson }}<|call|>"
    "{% elif m.role == 'assistant' %}<|start|>assistant<|channel|>final<|message|>{{ m.content }}<|end|>"
    "{% else %}<|start|>user<|message|>{{ m.content }}<|end|>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant{% endif %}"
)  # fmt: skip
_SHORT = {"@": "m.tool_calls[0].function", "#": "t.function"}
_WRITTEN = {"Hermes": HERMES, "Llama 3": LLAMA, "Mistral": MISTRAL, "Functionary": FUNCTIONARY, "gpt-oss": HARMONY}
FORMATS = {
    family: text.replace("@", _SHORT["@"]).replace("#", _SHORT["#"]) for family, text in _WRITTEN.items()
}  # fmt: skip
MARKERS = ("<|end|>", "<|channel|>", "<|message|>", "<|call|>", "[TOOL_CALLS]", "[/TOOL_RESULTS]", "<|start|>")
