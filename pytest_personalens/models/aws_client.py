"""The common part of the clients of AWS: credentials, region, time limits, and errors turned into advice."""

from __future__ import annotations

import os
import re
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import ModelBusy, ModelError
from pytest_personalens.core.safe_text import add_secret
from pytest_personalens.models.model import late_error, retry_after

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: With these codes the provider refused a call because of the call rate. The codes in `_FAILED` have other
#: reasons.
THROTTLED: Final = (
    "ThrottlingException", "TooManyRequestsException", "ServiceQuotaExceededException",
    "RequestLimitExceeded",
)  # fmt: skip
_FAILED: Final = (
    "ServiceUnavailableException", "InternalServerException", "ModelTimeoutException",
    "ModelNotReadyException", "ModelErrorException", "BadGatewayException", "DependencyFailedException",
    "RetryableConflictException",
)  # fmt: skip
_CREDENTIALS: Final = (
    "ExpiredTokenException", "ExpiredToken", "UnrecognizedClientException", "InvalidSignatureException",
    "InvalidClientTokenId",
)  # fmt: skip
#: The variable of a token that botocore prefers to all keys, also where it is empty.
_TOKEN: Final = "AWS_BEARER_TOKEN_BEDROCK"
_LOG_IN: Final = "set AWS_PROFILE, give ?profile=..., or run 'aws sso login'"
#: Words of a refusal that is about a token.
_OF_TOKEN: Final = re.compile(r"bearer|token|authorization header|api key", re.IGNORECASE)
#: Seconds that a service may pause which is an assistant: the limit of its turn comes with each call.
PATIENCE: Final = 3600.0


class AwsClient:
    """A client of one service of AWS, which the first use makes, with boto3.

    `called` is the name of the service in messages. `parameters` may name a region and a profile.
    """

    def __init__(
        self,
        service: str,
        called: str,
        parameters: Mapping[str, Any],
        *,
        timeout: float,
        connections: int,
        region: str | None = None,
    ) -> None:
        self._service, self._called, self._parameters = service, called, parameters
        self._read_timeout, self._connections = timeout, connections
        self._given_region = region or parameters.get("region")
        self._client: Any = None
        self._keyless = False
        self._lock = threading.Lock()

    @property
    def region(self) -> str:
        """Return the region of the client, which must exist already."""
        return str(self._client.meta.region_name)

    def client(self) -> Any:
        """Return the client of boto3. Raise botocore's errors, and `ModelError` for an unknown service."""
        with self._lock:
            if self._client is None:
                self._client = self._make_client()
            return self._client

    def check_ready(self) -> None:
        """Raise `ModelError` if there is no region, no such profile or no credentials, without any call."""
        from botocore.exceptions import BotoCoreError, NoCredentialsError

        try:
            self.client()
            if self._keyless:
                raise NoCredentialsError
        except BotoCoreError as error:
            raise self._botocore_error(error) from error

    def close(self) -> None:
        """Close the open connections, if there are any."""
        if self._client is not None:
            self._client.close()

    @contextmanager
    def convert_errors(self) -> Iterator[None]:
        """Raise `ModelBusy` or `ModelError` for what fails in here, also in the midst of a stream."""
        import urllib3
        from botocore import exceptions as e
        from botocore.eventstream import ParserError

        try:
            yield
        except e.ClientError as error:
            raise self._client_error(error) from error
        except e.BotoCoreError as error:
            raise self._botocore_error(error) from error
        except (urllib3.exceptions.HTTPError, ParserError) as error:
            text = " ".join(str(error).split())
            raise ModelBusy(f"{self._called}'s answer could not be read: {text}") from error

    def refusal(self, code: str, message: str) -> ModelError:
        """Return the error to raise for an error of this service alone."""
        return ModelError(f"{self._called} refuses the call: {code}: {message}")

    def _make_client(self) -> Any:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import UnknownServiceError

        # A service of another name, such as bedrock-agentcore, has a token of its own.
        token = os.environ.get(_TOKEN) if self._service.endswith("-runtime") else None
        _refuse_token(token)
        # Every other SDK of AWS reads AWS_REGION; boto3 reads AWS_DEFAULT_REGION alone, which has precedence.
        known = None if os.environ.get("AWS_DEFAULT_REGION") else os.environ.get("AWS_REGION") or None
        session = boto3.Session(
            profile_name=self._parameters.get("profile"), region_name=self._given_region or known
        )
        credentials = session.get_credentials()
        _strip_credentials(credentials)
        self._keyless = credentials is None and not os.environ.get("AWS_BEARER_TOKEN_BEDROCK")
        # The class `Reliable` (models/retry.py) makes the retries. Retries by boto3 would hide them from the
        # rate limiter.
        config = Config(
            retries={"total_max_attempts": 1},
            connect_timeout=10,
            read_timeout=self._read_timeout,
            max_pool_connections=self._connections,
        )
        try:
            client = session.client(self._service, config=config)
        except UnknownServiceError:
            raise ModelError(
                f"this boto3 ({boto3.__version__}) does not know {self._service}; upgrade boto3"
            ) from None
        if token and client.meta.endpoint_url.startswith("http://"):
            raise ModelError(
                f"boto3 sends the token in {_TOKEN} over https alone, and the endpoint is"
                f" {client.meta.endpoint_url}; unset the token, or give an https endpoint"
            )
        return client

    def _client_error(self, error: Any) -> Exception:
        """Return the error to raise for a refusal by the service."""
        details, metadata = error.response.get("Error", {}), error.response.get("ResponseMetadata", {})
        status, code = metadata.get("HTTPStatusCode", 0), details.get("Code", "")
        code = code[:1].upper() + code[1:]  # within a stream, it begins in lower case and has no status
        message = details.get("Message", "") or "no message"
        wait = retry_after(metadata.get("HTTPHeaders", {}))
        if code in THROTTLED or status == 429:
            return ModelBusy(f"{self._called} throttles: {message}", throttled=True, retry_after=wait)
        if code in _FAILED or status >= 500:
            return ModelBusy(f"{self._called} failed: {code or status}: {message}", retry_after=wait)
        if status in (401, 403) and _OF_TOKEN.search(message) and os.environ.get(_TOKEN) is not None:
            return ModelError(
                f"AWS does not accept the token in {_TOKEN} ({message}); make a new one, or unset it to sign"
                " with keys"
            )
        if code in _CREDENTIALS:
            return ModelError(
                f"AWS does not accept the credentials ({code}); renew them, for example with 'aws sso login',"
                " and run again"
            )
        return self.refusal(code or str(status), message)

    def _botocore_error(self, error: Any) -> Exception:
        """Return the error to raise for an error of botocore: of the configuration or the network."""
        from botocore import exceptions as e

        text = " ".join(str(error).split())
        no_credentials = (
            *(e.NoCredentialsError, e.PartialCredentialsError, e.TokenRetrievalError),
            *(e.SSOError, e.CredentialRetrievalError),
        )
        for kinds, advice in (
            (no_credentials, f"no usable AWS credentials ({text}); {_LOG_IN}"),
            (e.ProfileNotFound, f"{text}; see 'aws configure list-profiles'"),
            (e.NoRegionError, "no AWS region is set; give ?region=..., or set AWS_REGION"),
            (e.ParamValidationError, f"boto3 refuses the call: {text}"),
            (e.InvalidRegionError, f"{text}; give ?region=..., or set AWS_REGION"),
        ):
            if isinstance(error, kinds):
                return ModelError(advice)
        if isinstance(error, e.ReadTimeoutError):
            return late_error(self._read_timeout)
        if isinstance(error, e.EndpointConnectionError) and self._is_unknown_region():
            return ModelError(
                f"no Bedrock in region {self.region!r} that this boto3 knows; check ?region= or AWS_REGION,"
                " or upgrade boto3"
            )
        of_network = (
            *(e.ConnectionError, e.HTTPClientError),
            *(e.ChecksumError, e.IncompleteReadError, e.EventStreamError),
        )
        if not isinstance(error, of_network) or "Invalid header value" in text:
            return ModelError(f"boto3 cannot make the call: {text}")
        # The remaining errors come from the network: a connection that is refused, cut or silent, or an
        # answer that is not valid.
        return ModelBusy(f"no answer from {self._called}: {text}")

    def _is_unknown_region(self) -> bool:
        import boto3

        # boto3 lists the regions of "bedrock" and none for "bedrock-runtime". Both services have the same
        # regions.
        known = boto3.Session().get_available_regions("bedrock")
        return self._client is not None and self.region not in known


def _refuse_token(token: str | None) -> None:
    """Raise `ModelError` for a token that botocore would send, and that no call can succeed with."""
    if token is None:
        return
    add_secret(token)
    add_secret(token.strip())
    if not token.strip():
        raise ModelError(
            f"{_TOKEN} is set and empty, such as by a secret of CI that is missing, and boto3 then uses no"
            " keys; unset it, or set the token"
        )
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise ModelError(
            f"{_TOKEN} holds a line break, a space or a character that is no ASCII; set it again"
        )


def _strip_credentials(credentials: Any) -> None:
    """Remove white space around credentials of the environment, and keep them out of error texts.

    A pasted value often ends with a line break, and no HTTP header can hold one.
    """
    for name in ("access_key", "secret_key", "token") if credentials is not None else ():
        value = getattr(credentials, name)
        add_secret(value)
        if value and value != value.strip() and credentials.method == "env":
            setattr(credentials, name, value.strip())
