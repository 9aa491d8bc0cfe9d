"""The network: what a document sees, and what a step of the optimiser does."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="needs the distill extra")

import torch

from bt_lab.distill.network import Network, Piece
from bt_lab.distill.size import SIZES, Size
from bt_runtime import BtError

SMALL = Size(32, 2, 4, 2, 64, vocab=50, context=200)


@pytest.fixture
def network(one_core):
    torch.manual_seed(1)
    made = Network(SMALL)
    for weight in made.parameters():  # far from the small numbers of the beginning, where everything looks alike
        torch.nn.init.normal_(weight, std=0.3)
    return made


def test_documents_in_one_row_do_not_see_each_other(network):
    """Packed or alone, a document's logits are the same, whatever stands before, behind, and in the unused rest."""
    torch.manual_seed(2)
    tokens = torch.randint(50, (300,))
    lengths = [70, 129, 64]
    with torch.no_grad():
        packed = network.logits(network(tokens, [Piece(n) for n in lengths]))
        at = 0
        for length in lengths:
            alone = network.logits(network(tokens[at : at + length], [Piece(length)]))
            assert torch.allclose(packed[at : at + length], alone, atol=1e-4)
            at += length


def test_a_token_sees_only_what_is_before_it(network):
    """Another token later on changes nothing earlier, and something from there on."""
    tokens = torch.arange(40) % 50
    other = tokens.clone()
    other[25] = 49
    with torch.no_grad():
        one, two = (network.logits(network(t, [Piece(40)])) for t in (tokens, other))
    assert torch.equal(one[:25], two[:25])
    assert not torch.allclose(one[30], two[30], atol=1e-3)


def test_the_order_of_tokens_matters(network):
    """Positions are told apart: the same tokens in another order give something else at the end."""
    with torch.no_grad():
        one = network.logits(network(torch.tensor([1, 2, 3, 4]), [Piece(4)]))[-1]
        two = network.logits(network(torch.tensor([2, 1, 3, 4]), [Piece(4)]))[-1]
    assert not torch.allclose(one, two, atol=1e-3)


@pytest.mark.parametrize("name", ["toy", "tiny", "small"])
def test_a_size_says_how_many_weights_it_has(name):
    """The figure that is told is that of the network."""
    assert sum(w.numel() for w in Network(SIZES[name]).parameters()) == SIZES[name].parameters


def test_heads_that_do_not_divide_are_refused():
    """A size that cannot be built says so."""
    with pytest.raises(BtError, match="do not divide"):
        Size(100, 2, 3, 1, 64)
