"""The types of the specification, under its own names: what params, results and notifications hold.

Fields are in `snake_case`. A field that is absent is None, or the specification's default.

https://modelcontextprotocol.io/specification/2026-07-28/schema
"""

from splice.protocol.capabilities import ClientCapabilities, ElicitationCapability, ServerCapabilities
from splice.protocol.completion import Completion, PromptReference, ResourceTemplateReference
from splice.protocol.content import (
    Annotations,
    AudioContent,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceContents,
    ResourceLink,
    TextContent,
    ToolResultContent,
    ToolUseContent,
    UnknownContent,
)
from splice.protocol.jsonrpc import Failure, Message, Notification, Request, Response, Success, decode, encode
from splice.protocol.methods import Method, Note
from splice.protocol.notifications import LoggingLevel, LogParams
from splice.protocol.prompts import GetPromptResult, ListPromptsResult, Prompt, PromptArgument, PromptMessage
from splice.protocol.questions import (
    CREATE_MESSAGE,
    ELICIT,
    ROOTS_LIST,
    CreateMessageParams,
    CreateMessageResult,
    ElicitParams,
    ElicitResult,
    ElicitValue,
    ListRootsResult,
    ModelHint,
    ModelPreferences,
    Root,
    SamplingMessage,
    ToolChoice,
)
from splice.protocol.resources import (
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
)
from splice.protocol.tools import CallToolParams, CallToolResult, ListToolsResult, Tool, ToolAnnotations
from splice.protocol.versions import VERSIONS
from splice.protocol.wire import Icon, Implementation, NoteParams, Params, Result

__all__ = [
    "CREATE_MESSAGE",
    "ELICIT",
    "ROOTS_LIST",
    "VERSIONS",
    "Annotations",
    "AudioContent",
    "CallToolParams",
    "CallToolResult",
    "ClientCapabilities",
    "Completion",
    "ContentBlock",
    "CreateMessageParams",
    "CreateMessageResult",
    "ElicitParams",
    "ElicitResult",
    "ElicitValue",
    "ElicitationCapability",
    "EmbeddedResource",
    "Failure",
    "GetPromptResult",
    "Icon",
    "ImageContent",
    "Implementation",
    "ListPromptsResult",
    "ListResourceTemplatesResult",
    "ListResourcesResult",
    "ListRootsResult",
    "ListToolsResult",
    "LogParams",
    "LoggingLevel",
    "Message",
    "Method",
    "ModelHint",
    "ModelPreferences",
    "Note",
    "NoteParams",
    "Notification",
    "Params",
    "Prompt",
    "PromptArgument",
    "PromptMessage",
    "PromptReference",
    "ReadResourceResult",
    "Request",
    "Resource",
    "ResourceContents",
    "ResourceLink",
    "ResourceTemplate",
    "ResourceTemplateReference",
    "Response",
    "Result",
    "Root",
    "SamplingMessage",
    "ServerCapabilities",
    "Success",
    "TextContent",
    "Tool",
    "ToolAnnotations",
    "ToolChoice",
    "ToolResultContent",
    "ToolUseContent",
    "UnknownContent",
    "decode",
    "encode",
]
