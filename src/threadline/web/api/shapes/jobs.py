"""Jobs: prompts that are asked by themselves, and their runs."""

from pydantic import Field

from threadline.core.job import PROMPT_LIMIT, Job, JobRun, Mirror, NewJob
from threadline.sessions.jobs import JobChange
from threadline.sessions.runs import Start
from threadline.web.api.shapes.model import Answer, Moment, Wish

SCHEDULE = "As `every day 9:00`, `every 30m`, `at 2027-01-31 18:00` or a cron line."


class RunShape(Answer):
    """One time that a job was due."""

    id: int
    state: str = Field(description="`waiting`, `running`, `done`, `failed` or `skipped`.")
    due_at: Moment
    started_at: Moment
    ended_at: Moment | None
    session: str | None
    turn: int | None
    why: str | None

    @classmethod
    def from_run(cls, run: JobRun) -> "RunShape":
        """Tell how it went."""
        return cls(
            id=run.id,
            state=run.shown_state,
            due_at=run.due_at,
            started_at=run.started_at,
            ended_at=run.ended_at,
            session=run.session_id,
            turn=run.turn_id,
            why=run.why,
        )


class JobShape(Answer):
    """A prompt that is asked by itself."""

    id: int
    profile: str
    name: str
    prompt: str
    schedule: str
    timezone: str
    target: str
    mirror: Mirror
    maker: str | None = Field(description="Null: the owner of the installation.")
    made_at: Moment
    paused_at: Moment | None
    next_at: Moment | None = Field(description="When it is asked next; null: never again.")
    last_run: RunShape | None = Field(description="Null: there was none yet.")

    @classmethod
    def from_job(cls, job: Job) -> "JobShape":
        """Tell what it asks, and when."""
        told = {
            "maker": None if job.maker is None else str(job.maker),
            "last_run": None if job.last_run is None else RunShape.from_run(job.last_run),
        }
        same = {name: getattr(job, name) for name in cls.model_fields if name not in told}
        return cls(**same, **told)


class JobWish(Wish):
    """A job to be made."""

    prompt: str = Field(min_length=1, max_length=PROMPT_LIMIT, examples=["What is new today?"])
    schedule: str = Field(
        min_length=1, max_length=200, description=SCHEDULE, examples=["every day 9:00"]
    )
    timezone: str = Field(default="UTC", min_length=1, max_length=100, examples=["Europe/Berlin"])
    target: str = Field(
        default="origin",
        min_length=1,
        max_length=2000,
        description="Where the answer goes, as `telegram:42`; several with commas between them.",
    )
    mirror: Mirror = Mirror.NONE
    name: str = Field(
        default="", max_length=200, description="Empty: the first words of its prompt."
    )

    def new_job(self) -> NewJob:
        """Give it as the store wants it."""
        return NewJob(**self.model_dump())


class JobEdit(Wish):
    """What shall be different about a job; what is left out stays."""

    prompt: str | None = Field(default=None, min_length=1, max_length=PROMPT_LIMIT)
    schedule: str | None = Field(default=None, min_length=1, max_length=200, description=SCHEDULE)
    timezone: str | None = Field(default=None, min_length=1, max_length=100)
    target: str | None = Field(default=None, min_length=1, max_length=2000)
    mirror: Mirror | None = None
    name: str | None = Field(
        default=None, max_length=200, description="Empty: the first words of its prompt."
    )

    def change(self) -> JobChange:
        """Give it as the store wants it."""
        return JobChange(**self.model_dump())


class TimesShape(Answer):
    """When a schedule comes next."""

    items: list[Moment] = Field(description="None: never again.")


class StartShape(Answer):
    """What came of starting a job."""

    job: int
    state: str
    turn: int | None
    why: str | None

    @classmethod
    def from_start(cls, start: Start) -> "StartShape":
        """Tell what came of it."""
        return cls(job=start.job_id, state=start.state, turn=start.turn_id, why=start.why)
