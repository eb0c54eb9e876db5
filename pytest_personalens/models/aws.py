"""The common part of the clients of AWS.

It handles credentials, the region and time limits, and turns errors into advice.
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import ModelBusy, ModelError
from pytest_personalens.core.text.redaction import add_secret
from pytest_personalens.models.base import retry_after

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

#: With these codes the provider refused a call because of the call rate. The codes in `_FAILED` have other
#: reasons.
_THROTTLED: Final = frozenset(
    {
        "ThrottlingException",
        "TooManyRequestsException",
        "ServiceQuotaExceededException",
        "RequestLimitExceeded",
    }
)
_FAILED: Final = frozenset(
    {
        "ServiceUnavailableException",
        "InternalServerException",
        "ModelTimeoutException",
        "ModelNotReadyException",
        "ModelErrorException",
        "BadGatewayException",
        "DependencyFailedException",
        "RetryableConflictException",
    }
)
#: Seconds that a service may pause which is an assistant: the limit of its turn comes with each call.
PATIENCE: Final = 3600.0
_CREDENTIALS: Final = frozenset(
    {
        "ExpiredTokenException",
        "ExpiredToken",
        "UnrecognizedClientException",
        "InvalidSignatureException",
        "InvalidClientTokenId",
    }
)


class AwsClient:
    """A client of one service of AWS.

    The first use imports boto3 and makes the client. `called` is the name of the service in messages.
    `parameters` may name a region and a profile.
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
        self._timeout, self._connections = timeout, connections
        self._given_region = region or parameters.get("region")
        self._client: Any = None
        self._keyless = False
        self._lock = threading.Lock()

    @property
    def region(self) -> str:
        """Return the region of the client, which must exist already."""
        return str(self._client.meta.region_name)

    def get(self) -> Any:
        """Return the client of boto3.

        Raise the errors of botocore, and `ModelError` for a service that boto3 does not know.
        """
        with self._lock:
            if self._client is None:
                import boto3
                from botocore.config import Config
                from botocore.exceptions import UnknownServiceError

                session = boto3.Session(
                    profile_name=self._parameters.get("profile"), region_name=self._given_region or _region()
                )
                credentials = session.get_credentials()
                _tidy(credentials)
                self._keyless = credentials is None and not os.environ.get("AWS_BEARER_TOKEN_BEDROCK")
                # The class `Reliable` (models/retry.py) makes the retries. Retries by boto3 would hide them
                # from the rate limiter.
                config = Config(
                    retries={"total_max_attempts": 1},
                    connect_timeout=10,
                    read_timeout=self._timeout,
                    max_pool_connections=self._connections,
                )
                try:
                    self._client = session.client(self._service, config=config)
                except UnknownServiceError:
                    raise ModelError(
                        f"this boto3 ({boto3.__version__}) does not know {self._service}; upgrade boto3"
                    ) from None
            return self._client

    def check_ready(self) -> None:
        """Raise `ModelError` if there is no region, no such profile or no credentials.

        This method makes no call.
        """
        from botocore.exceptions import BotoCoreError, NoCredentialsError

        try:
            self.get()
            if self._keyless:
                raise NoCredentialsError
        except BotoCoreError as error:
            raise self.core_error(error) from error

    def close(self) -> None:
        """Close the open connections, if there are any."""
        if self._client is not None:
            self._client.close()

    def passing_error(self, error: Any) -> Exception | None:
        """Return the error to raise for an error that every service has, or None.

        Such errors come from the call rate, from the service itself, or from the credentials.
        """
        code, message, status = code_of(error)
        headers = error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {})
        if code in _THROTTLED or status == 429:
            return ModelBusy(
                f"{self._called} throttles: {message}", throttled=True, retry_after=retry_after(headers)
            )
        if code in _FAILED or status >= 500:
            return ModelBusy(
                f"{self._called} failed: {code or status}: {message}", retry_after=retry_after(headers)
            )
        if code in _CREDENTIALS:
            return ModelError(
                f"AWS does not accept the credentials ({code}); renew them, for example with 'aws sso login',"
                " and run again"
            )
        return None

    def core_error(self, error: Any) -> Exception:
        """Return the error to raise for an error of botocore itself.

        Such errors come from the configuration or from the network.
        """
        from botocore import exceptions as e

        text = " ".join(str(error).split())
        if isinstance(
            error,
            (
                e.NoCredentialsError,
                e.PartialCredentialsError,
                e.TokenRetrievalError,
                e.SSOError,
                e.CredentialRetrievalError,
            ),
        ):
            return ModelError(
                f"no usable AWS credentials ({text}); set AWS_PROFILE, give ?profile=..., or run 'aws sso"
                " login'"
            )
        if isinstance(error, e.ProfileNotFound):
            return ModelError(f"{text}; see 'aws configure list-profiles'")
        if isinstance(error, e.NoRegionError):
            return ModelError("no AWS region is set; give ?region=..., or set AWS_REGION")
        if isinstance(error, e.ParamValidationError):
            return ModelError(f"boto3 refuses the call: {text}")
        if isinstance(error, e.InvalidRegionError):
            return ModelError(f"{text}; give ?region=..., or set AWS_REGION")
        if isinstance(error, e.EndpointConnectionError) and self._unknown_region():
            return ModelError(
                f"no Bedrock in region {self.region!r} that this boto3 knows; check ?region= or AWS_REGION,"
                " or upgrade boto3"
            )
        # The remaining errors come from the network: a connection that is refused, cut or silent, or an
        # answer that is not valid.
        return ModelBusy(f"no answer from {self._called}: {text}")

    @contextmanager
    def errors(self, refusal: Callable[[str, str], ModelError]) -> Iterator[None]:
        """Turn what fails in here into `ModelBusy` or `ModelError`; `refusal` tells of a code and a message.

        For services that answer with a stream, in the midst of which all of it may happen.
        """
        import urllib3
        from botocore import exceptions as e
        from botocore.eventstream import ParserError

        try:
            yield
        except e.ClientError as error:
            code, message, _ = code_of(error)
            raise (self.passing_error(error) or refusal(code, message)) from error
        except e.BotoCoreError as error:
            raise self.core_error(error) from error
        except (urllib3.exceptions.HTTPError, ParserError) as error:
            text = " ".join(str(error).split())
            raise ModelBusy(f"{self._called}'s answer could not be read: {text}") from error

    def _unknown_region(self) -> bool:
        import boto3

        # boto3 lists the regions of "bedrock" and none for "bedrock-runtime". Both services have the same
        # regions.
        return self._client is not None and self.region not in boto3.Session().get_available_regions(
            "bedrock"
        )


def code_of(error: Any) -> tuple[str, str, int]:
    """Return the code, the message and the HTTP status of a `ClientError`.

    The code of an error within a stream begins in lower case; this function makes it upper case. Such an
    error has the status 0.
    """
    details = error.response.get("Error", {})
    code = details.get("Code", "")
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return code[:1].upper() + code[1:], details.get("Message", "") or "no message", status


def _region() -> str | None:
    """Return the region of AWS_REGION, or None if boto3 is to choose the region.

    Every other SDK of AWS reads AWS_REGION; boto3 does not. AWS_DEFAULT_REGION, which boto3 reads, has
    precedence.
    """
    return None if os.environ.get("AWS_DEFAULT_REGION") else os.environ.get("AWS_REGION") or None


def _tidy(credentials: Any) -> None:
    """Remove surrounding white space, such as a line break, from credentials of the environment.

    A pasted value often ends with a line break, and no HTTP header can hold one. The function also registers
    each credential as a secret, so that no error text repeats it.
    """
    for name in ("access_key", "secret_key", "token") if credentials is not None else ():
        value = getattr(credentials, name)
        add_secret(value)
        if value and value != value.strip() and credentials.method == "env":
            setattr(credentials, name, value.strip())
