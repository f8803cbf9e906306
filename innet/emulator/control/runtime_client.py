"""A P4Runtime client that waits for its answers: channel, arbitration and errors.

The messages are finsy's (extra `bmv2`), imported where they are used. Whoever controls a
switch holds a stream to it, with a number; the highest number is the primary controller, and
only it may write. Here the number is a time, so that who comes last may write, and who was
there before may again once this client has closed.
"""

import queue
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Self

from innet.emulator.closing import Closing
from innet.errors import InnetError, MissingToolError

DEADLINE_S = 20.0
"""A switch that has not answered a call within this time is given up."""

_MOST_BYTES = 64 << 20  # of one answer: all cells of a counter, all entries of a table
_MOST_ERROR_BYTES = 4 << 20  # where one change fails, all changes are told of


class SwitchError(InnetError):
    """A switch that does not answer, or refuses what it is told. Exit code 1."""


def import_finsy() -> Any:  # noqa: ANN401
    """The package finsy. MissingToolError if it is not installed."""
    try:
        import finsy
    except ImportError as error:
        raise MissingToolError(
            f"P4Runtime needs finsy ({error}): pip install 'innet[bmv2]'"
        ) from None
    return finsy


class RuntimeClient(Closing):
    """The primary controller of one device, while it is open (`with`).

    `target` is a gRPC address, `device` the id that the switch was started with. Every
    failure is a SwitchError that names the target.
    """

    def __init__(self, target: str, device: int) -> None:
        self.target = target
        self.device = device

    def __enter__(self) -> Self:
        import grpc
        from finsy.proto import p4r_grpc

        options = [
            ("grpc.enable_http_proxy", 0),
            ("grpc.max_receive_message_length", _MOST_BYTES),
            ("grpc.max_metadata_size", _MOST_ERROR_BYTES),
            ("grpc.absolute_max_metadata_size", _MOST_ERROR_BYTES),
        ]
        self._channel = grpc.insecure_channel(self.target, options=options)
        self._stub = p4r_grpc.P4RuntimeStub(self._channel)
        self._requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
        try:
            self._call(self._become_primary)
        except BaseException:
            self.close()
            raise
        return self

    def close(self) -> None:
        """End the stream and the channel."""
        self._requests.put(None)
        self._channel.close()

    def version(self) -> str:
        """The version of P4Runtime that the switch speaks."""
        from finsy.proto import p4r

        return str(self._ask("Capabilities", p4r.CapabilitiesRequest()).p4runtime_api_version)

    def cookie(self) -> int | None:
        """What marks the program on the switch, None if it has none."""
        import grpc
        from finsy.proto import p4r

        request = p4r.GetForwardingPipelineConfigRequest(
            device_id=self.device,
            response_type=p4r.GetForwardingPipelineConfigRequest.COOKIE_ONLY,
        )
        try:
            answer = self._stub.GetForwardingPipelineConfig(request, timeout=DEADLINE_S)
        except grpc.RpcError as error:
            if error.code() == grpc.StatusCode.FAILED_PRECONDITION:
                return None
            raise self._named(error) from None
        return int(answer.config.cookie.cookie) if answer.config.HasField("cookie") else None

    def set_program(self, config: Any) -> None:  # noqa: ANN401
        """Put a program on the switch; its tables are empty afterwards."""
        from finsy.proto import p4r

        request = p4r.SetForwardingPipelineConfigRequest(
            device_id=self.device,
            election_id=self._election,
            action=p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT,
            config=config,
        )
        self._ask("SetForwardingPipelineConfig", request)

    def read(self, entities: list[Any]) -> Iterator[Any]:
        """All entities that the given ones, which may be open, stand for."""
        from finsy.proto import p4r

        request = p4r.ReadRequest(device_id=self.device, entities=entities)
        answers = self._call(lambda: list(self._stub.Read(request, timeout=DEADLINE_S)))
        for answer in answers:
            yield from answer.entities

    def write(self, updates: list[Any]) -> None:
        """Make changes, in order."""
        from finsy.proto import p4r

        request = p4r.WriteRequest(
            device_id=self.device, election_id=self._election, updates=updates
        )
        self._ask("Write", request)

    def _become_primary(self) -> None:
        from finsy.proto import p4r

        self._election = p4r.Uint128(low=time.time_ns() // 1000)
        arbitration = p4r.MasterArbitrationUpdate(device_id=self.device, election_id=self._election)
        self._requests.put(p4r.StreamMessageRequest(arbitration=arbitration))
        # Kept: gRPC cancels a stream that nobody refers to, and the switch would forget us.
        self._stream = self._stub.StreamChannel(iter(self._requests.get, None))
        late = threading.Timer(DEADLINE_S, self._stream.cancel)
        late.start()
        try:
            answer = next((each for each in self._stream if each.HasField("arbitration")), None)
        finally:
            late.cancel()
        if answer is None:
            raise SwitchError(f"the switch at {self.target} ended the stream of its controller")
        status = answer.arbitration.status
        if status.code != 0:
            reason = status.message or f"code {status.code}"
            raise SwitchError(f"the switch at {self.target} obeys another controller: {reason}")

    def _ask(self, method: str, request: Any) -> Any:  # noqa: ANN401
        return self._call(lambda: getattr(self._stub, method)(request, timeout=DEADLINE_S))

    def _call(self, ask: Callable[[], Any]) -> Any:  # noqa: ANN401
        import grpc

        try:
            return ask()
        except grpc.RpcError as error:
            raise self._named(error) from None

    def _named(self, error: Any) -> SwitchError:  # noqa: ANN401
        """An error of gRPC, with the first reason that the switch gave for one change of many."""
        from finsy.proto import p4r, rpc_status

        told = f"{error.details()} ({error.code().name})"
        for name, value in error.trailing_metadata() or ():
            if name == "grpc-status-details-bin":
                status = rpc_status.Status.FromString(value)
                for place, detail in enumerate(status.details):
                    reason = p4r.Error()
                    if detail.Unpack(reason) and reason.canonical_code != 0:
                        told = f"{told}: change {place + 1} of {len(status.details)}: "
                        told += f"{reason.message or f'code {reason.canonical_code}'}"
                        break
        return SwitchError(f"the switch at {self.target}: {told}")
