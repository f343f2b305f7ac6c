"""Settings: what each is, where it came from, and what is to become of some."""

from collections.abc import Iterable, Mapping

from pydantic import Field, JsonValue

from threadline.config.catalogue import Origin, Setting, SettingKind
from threadline.config.editing import KEY_LIMIT, MOST_CHANGES
from threadline.web.api.shapes.model import Answer, Wish


class SettingShape(Answer):
    """One setting; of a secret it is told only that there is one."""

    key: str = Field(examples=["spend.day"])
    kind: SettingKind
    value: JsonValue = Field(description="A secret reads ••••••, unless it says where it stands.")
    default: JsonValue
    origin: Origin
    place: str | None = Field(description="The file, variable or option from which it came.")
    overridden: bool = Field(
        description="An option, a variable or the project's file sets it, and wins over the file."
    )
    description: str | None = Field(description="What it must be.")
    choices: list[str] = Field(description="The words that it may be; none: others too.")
    secret: bool
    remote: bool = Field(description="It can be changed here, and not only at the machine itself.")
    restart: bool = Field(description="A change takes effect only after a restart.")

    @classmethod
    def from_setting(cls, setting: Setting) -> "SettingShape":
        """Tell what it is."""
        return cls.model_validate(
            {
                "key": setting.key,
                "kind": setting.kind,
                "value": setting.value,
                "default": setting.default,
                "origin": setting.origin,
                "place": setting.place,
                "overridden": setting.is_overridden,
                "description": setting.description,
                "choices": list(setting.choices),
                "secret": setting.is_hidden,
                "remote": setting.is_remote,
                "restart": setting.needs_restart,
            }
        )


class SettingsShape(Answer):
    """All settings by which this server goes."""

    file: str = Field(description="Where changes are written.")
    items: list[SettingShape]

    @classmethod
    def from_settings(cls, file: str, settings: Iterable[Setting]) -> "SettingsShape":
        """Tell what they are."""
        return cls(file=file, items=[SettingShape.from_setting(one) for one in settings])


class Failure(Answer):
    """Something that could not be made of the settings: there everything is as it was."""

    table: str = Field(examples=["platforms.telegram"])
    message: str


class ChangedSettings(SettingsShape):
    """All settings after a change, and what does not hold yet."""

    failures: list[Failure]
    restart: list[str] = Field(description="Settings that take effect only after a restart.")
    overridden: list[str] = Field(
        description="Changed settings that an option, a variable or the project's file overrides."
    )


class SettingsChange(Wish):
    """Settings by their dotted names. A secret is kept in a file that only its owner can read."""

    set: dict[str, JsonValue] = Field(
        default={},
        max_length=MOST_CHANGES,
        examples=[{"spend.day": 5, "agent.model": "openai:gpt-5.1"}],
    )
    unset: list[str] = Field(default=[], max_length=MOST_CHANGES, examples=[["spend.month"]])

    def changes(self) -> Mapping[str, object]:
        """Put both into one: what is taken out is None."""
        return {**self.set, **{key[: KEY_LIMIT + 1]: None for key in self.unset}}
