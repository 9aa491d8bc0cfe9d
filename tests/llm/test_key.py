"""Where a model's key goes, and where it never goes."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from bt_runtime import BtError
from bt_runtime.cli import main
from bt_runtime.language.settings import Settings
from bt_runtime.llm import doctor, open_model
from bt_runtime.llm.server import key
from bt_runtime.llm.server.address import parse
from bt_runtime.llm.server.endpoint import Endpoint
from bt_runtime.llm.server.key import Key, key_for

KEY = "sk-secret-0123456789"
HERE, THERE = "http://127.0.0.1:8080", "https://api.example.com/v1"


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv("BTR_MODEL_KEY", KEY)
    monkeypatch.delenv("BTR_MODEL", raising=False)
    monkeypatch.delenv("BTR_MODEL_KEY_FOR", raising=False)
    monkeypatch.setattr(key, "_named", set())


@pytest.fixture
def listening() -> Iterator[tuple[str, list[str | None]]]:
    """A server that says nothing useful, and what keys it was sent."""
    came: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            came.append(self.headers.get("Authorization"))
            self.send_error(404)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", came
    server.shutdown()
    server.server_close()


def asked(address: str, **how: Any) -> None:
    with pytest.raises(BtError):
        Endpoint(address, timeout=5, **how).ready()


def test_a_key_goes_to_the_address_that_the_user_has_named_and_to_no_other(listening, monkeypatch):
    address, came = listening
    asked(address)
    assert came and set(came) == {None}
    for variable, value, sent in (
        ("BTR_MODEL", address, True),
        ("BTR_MODEL", HERE, False),
        ("BTR_MODEL_KEY_FOR", address + "/v1", True),
        ("BTR_MODEL_KEY_FOR", HERE, False),
    ):
        came.clear()
        with monkeypatch.context() as there:
            there.setenv(variable, value)
            asked(address)
        assert set(came) == {f"Bearer {KEY}" if sent else None}, (variable, value)
    came.clear()
    asked(address, key="another-key")
    assert set(came) == {"Bearer another-key"}


def test_what_is_bound_to_one_server_is_not_sent_to_a_model_that_environment_names(monkeypatch):
    monkeypatch.setenv("BTR_MODEL", HERE)
    monkeypatch.setenv("BTR_MODEL_KEY_FOR", THERE)
    assert key_for(parse(THERE)) and not key_for(parse(HERE))


def test_a_folders_address_gets_no_key_from_a_command_and_a_flags_does(listening, tmp_path, monkeypatch):
    from contextlib import ExitStack

    from bt_runtime.cli.agents.models import open_models

    address, came = listening
    (tmp_path / "btr.yaml").write_text(f"model: {address}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BTR_PROJECT", str(tmp_path))
    for flags, sent in (({}, None), ({"model": address}, f"Bearer {KEY}")):
        came.clear()
        with ExitStack() as stack, pytest.raises(BtError):
            open_models(Settings(flags, root=tmp_path), stack)["default"].ready()
        assert set(came) == {sent}


def test_a_run_sends_the_key_where_a_flag_says_and_not_where_the_folder_does(listening, tmp_path, monkeypatch):
    """The run opens its models by their names, as a resumed one does."""
    address, came = listening
    (tmp_path / "btr.yaml").write_text(f"model: {address}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BTR_PROJECT", str(tmp_path))
    for flags, sent in (([], None), (["--model", address], f"Bearer {KEY}")):
        came.clear()
        assert main(["run", "react", "--env", "house", "--seconds", "20", *flags]) != 0
        assert set(came) == {sent}


def test_the_doctor_names_an_address_of_a_folder_and_asks_it_only_when_told(listening, tmp_path, monkeypatch):
    address, came = listening
    (tmp_path / "btr.yaml").write_text("model: http://192.0.2.7:8080\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BTR_PROJECT", str(tmp_path))
    monkeypatch.setattr(doctor, "_machine", lambda: None)
    (said,) = [f for f in doctor.model_report() if "192.0.2.7" in f.what]
    assert "was not asked" in said.what and "btr doctor http://192.0.2.7:8080" in said.hint
    (tmp_path / "btr.yaml").write_text(f"model: {address}\n")
    doctor.model_report()  # this very machine: asked, and sent no key
    assert set(came) == {None}
    came.clear()
    doctor.model_report(address)
    assert set(came) == {f"Bearer {KEY}"}


@pytest.mark.parametrize("address", ["http://10.0.0.5:8080", "http://example.com", "http://localhost.example.com"])
def test_a_key_never_crosses_a_network_in_the_open(address, monkeypatch):
    monkeypatch.setenv("BTR_MODEL", address)
    with pytest.raises(BtError, match="unencrypted") as caught:
        open_model()
    assert "https://" in caught.value.hint and KEY not in str(caught.value)


@pytest.mark.parametrize(
    "address", ["http://localhost:1", "http://127.8.9.1:1", "http://[::1]:1", "https://example.com"]
)
def test_a_key_may_be_sent_on_this_machine_and_through_tls(address):
    assert key_for(parse(address), KEY)


def test_a_key_shows_in_no_repr_and_does_not_travel():
    key = Key(KEY)
    assert KEY not in repr(key) and KEY not in repr(vars(Endpoint(HERE, key=KEY).server).keys())
    with pytest.raises(TypeError):
        pickle.dumps(key)
    with pytest.raises(BtError, match="characters"):
        Key("one\r\nX-Other: two")


@pytest.mark.parametrize(
    "address",
    [
        "http://[::1", "http://localhost:99999999", "http://localhost:0", "http://local host:1", "http://", "https:///x",
        "http://a..b", f"http://{'a' * 70}.b", "http://host:port", "ftp://host", "http://host/\u00fc",
        "http://host:1/a b", "http://host\n:1", "http://host?key=1", "http://host/#x", "http://user:pass-word@host", "http://\ufffd\u2028",
    ],
)  # fmt: skip
def test_an_address_that_is_none_is_refused_in_words_that_repeat_no_password(address):
    with pytest.raises(BtError) as caught:
        Endpoint(address)
    assert caught.value.hint and "pass-word" not in str(caught.value)


def test_a_host_in_letters_of_its_own_is_an_address():
    assert parse("https://b\u00fccher.example/v1/").host == "xn--bcher-kva.example"
