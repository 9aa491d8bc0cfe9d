from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from bt_runtime import BtError
from bt_runtime.llm.local.offload import MARGIN, Need, halving, layers_that_fit, load

GIB = 1 << 30
SEVEN = Need(layers=32, weights=4 * GIB, cache=1 * GIB, logits=GIB // 8)


def test_everything_goes_to_a_gpu_that_has_room():
    """All layers and the output: one more than there are layers."""
    assert layers_that_fit(SEVEN, [24 * GIB]) == 33


def test_without_a_gpu_nothing_is_offloaded():
    assert layers_that_fit(SEVEN, []) == 0
    assert layers_that_fit(SEVEN, [GIB // 2]) == 0


def test_two_small_gpus_hold_what_one_cannot():
    """Free memory of all GPUs counts, each less its margin."""
    one, two = layers_that_fit(SEVEN, [4 * GIB]), layers_that_fit(SEVEN, [4 * GIB, 4 * GIB])
    assert 0 < one < 33
    assert two == 33


@examples(derandomize=True, max_examples=200)
@given(
    st.builds(
        Need,
        layers=st.integers(1, 120),
        weights=st.integers(1, 200 * GIB),
        cache=st.integers(0, 50 * GIB),
        logits=st.integers(0, GIB),
    ),
    st.lists(st.integers(0, 150 * GIB), max_size=8),
)
def test_what_is_offloaded_fits(need, free):
    """The layers chosen take no more than the free memory less the margins."""
    layers = layers_that_fit(need, free)
    assert 0 <= layers <= need.layers + 1
    per_layer = (need.weights + need.cache) // (need.layers + 1)
    assert layers * per_layer <= sum(max(0, f - MARGIN) for f in free)


def test_a_failed_load_is_tried_with_half_and_ends_on_the_processor():
    """Each failure is said; what works is answered with its number of layers."""
    tried, said = [], []

    def attempt(layers: int) -> str:
        tried.append(layers)
        if layers > 4:
            raise BtError("out of memory")
        return f"model with {layers}"

    assert load(33, attempt, said.append) == ("model with 4", 4)
    assert tried == [33, 16, 8, 4]
    assert len(said) == 3


def test_a_model_that_does_not_load_on_the_processor_either_is_a_fault():
    def attempt(layers: int) -> str:
        raise BtError(f"not with {layers}")

    with pytest.raises(BtError, match="not with 0"):
        load(3, attempt, lambda _: None)
    assert list(halving(3)) == [3, 1, 0]


def test_beside_a_gpu_of_its_own_memory_one_that_shares_the_machines_counts_for_nothing():
    """As llama.cpp has it: the memory of both together is nobody's."""
    pytest.importorskip("llama_cpp", reason="needs the llm extra")
    from bt_runtime.llm.local.llama import Device, _used

    card, chip = Device("CUDA0", "", 8 << 30, 8 << 30, True), Device("Vulkan0", "", 16 << 30, 16 << 30, True)
    assert [device.gpu for device in _used([card, chip], {1})] == [True, False]
    assert [device.gpu for device in _used([chip], {0})] == [True]


def test_layers_that_were_asked_for_and_have_no_gpu_are_told_as_on_the_processor(open_model):
    """A number of layers is a wish; what is reported is what is there."""
    facts = open_model(gpu_layers=29).stats()
    if facts["devices"] != ["CPU"]:
        pytest.skip("there is a GPU")
    assert facts["gpu_layers"] == 0 and "29 layers were to go to a GPU" in facts["notes"][0]
