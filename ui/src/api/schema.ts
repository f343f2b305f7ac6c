// Written by `make docs` from the code. Changes here are lost.

/** How far somebody is let in; a later one in this list may all that an earlier one may. */
export type AccessLevel = "stranger" | "member" | "admin" | "owner";

/** Another name. */
export interface AccountRenameRequest {
  name: string;
}

/** A member who may use the web app from now on. */
export interface AccountRequest {
  name: string;
  /** The profile they belong to; null: all of them. */
  profile?: string | null;
}

/** What an account is to the installation. */
export type AccountRole = "owner" | "member";

/** Somebody who may use the web app. */
export interface AccountView {
  key: number;
  name: string;
  role: AccountRole;
  /** The profile that they belong to; null: all of them. */
  profile: string | null;
  has_password: boolean;
  made_at: string;
  /** Its `ETag`: whoever changes it sends it back as `If-Match`, in quotes. */
  revision: string;
}

/** A chat on a platform, or a thread of one. */
export interface AddressView {
  platform: string;
  kind: Kind;
  chat: string;
  /** Which of our accounts there; empty: the only. */
  account: string;
  thread: string | null;
  /** What the chat is called. */
  name: string | null;
  topic: string | null;
}

/** What a person decides about something that an agent asked leave for. */
export type Approval = "approved" | "denied";

/** An image, a file or a sound; its bytes are found below `/attachments`. */
export interface AttachmentPart {
  type: "attachment";
  kind: MediaKind;
  /** The hash of its content. */
  blob: string;
  media_type: string;
  size: number;
  name: string | null;
}

/** An administrative act. */
export interface AuditView {
  id: number;
  at: string;
  /** Who did it. */
  account: string;
  act: string;
  subject: string;
  detail: string;
  /** The key of the token that was used; null: a browser, a chat or the terminal. */
  token: number | null;
  /** How often: failed logins of a quarter of an hour are counted. */
  times: number;
}

/** Who has to approve the tools that a turn asks about. */
export type Awaits = "approver" | "requester";

/** What became of one session of several that something was to be done with. */
export interface BatchOutcomeView {
  id: string;
  /** Why nothing was done with this one. */
  error: string | null;
}

/** The same for several sessions. */
export interface BatchRequest {
  ids: string[];
  action: "archive" | "forget" | "move" | "pin" | "read" | "unarchive" | "unpin";
  /** Where `move` puts them. */
  project?: number | null;
}

/** What became of each of several sessions. */
export interface BatchView {
  outcomes: BatchOutcomeView[];
}

/** A branch of a conversation. */
export interface BranchRequest {
  title?: string | null;
}

/** A stretch of a transcript, and what stands in it. */
export interface BucketView {
  first_seq: number;
  last_seq: number;
  /** How many lines people wrote in it. */
  user: number;
  assistant: number;
  tool: number;
  system: number;
  /** How many of its lines tell that something went wrong. */
  markers: number;
  /** How many of its lines are cut: undone, or compacted. */
  hidden: number;
}

/** What becomes of a message that arrives while a turn runs. */
export type BusyMode = "queue" | "collect" | "interrupt" | "steer";

/** What a cap is set on. */
export type CapKind = "person_day" | "person_month" | "session" | "day" | "month";

/** A cap on spending, and what was spent under it so far, in US dollars. */
export interface CapView {
  kind: CapKind;
  /** Who or what it is on; empty: everybody together. */
  subject: string;
  limit: string;
  spent: string;
  unpriced: number;
  /** Null: from the beginning on. */
  period: PeriodView | null;
  /** It is near, or reached. */
  is_warned: boolean;
  /** Nothing more may be spent. */
  is_refused: boolean;
}

/** What a platform can do. */
export interface CapabilitiesView {
  text_limit: number;
  unit: Unit;
  edits: boolean;
  typing: boolean;
  attachments: boolean;
  attachment_limit: number;
  threads: boolean;
  buttons: boolean;
  receives: boolean;
  speaks: boolean;
}

/** Why a session began. */
export type Cause = "first" | "new" | "idle" | "daily" | "suspended" | "closed" | "branch" | "continued" | "parted" | "background";

/** What was removed, and what no program can take back. */
export interface CertificateView {
  id: number;
  state: DeletionState;
  asked_at: string;
  done_at: string | null;
  counts: Record<string, number>;
  out_of_reach: string[];
}

/** All settings after a change, and what does not hold yet. */
export interface ChangedSettingsView {
  /** Where changes are written. */
  file: string;
  items: SettingView[];
  failures: FailureView[];
  /** Settings that take effect only after a restart. */
  restart: string[];
  /** Changed settings that an option, a variable or the project's file overrides. */
  overridden: string[];
}

/** A session that began from another one. */
export interface ChildView {
  id: string;
  cause: Cause;
  title: string | null;
  /** Up to which line a branch shares what was said; null: it is none. */
  base_seq: number | null;
  opened_at: string;
}

/** Something a person can press instead of writing it. */
export interface ChoiceView {
  label: string;
  /** What is said in their name when they do, such as `/approve`. */
  says: string;
}

/** What came of a command. */
export interface CommandReplyView {
  /** The answer; empty where the transcript says it all. */
  text: string;
  choices: ChoiceView[];
  /** Where the screen goes on; null: with a conversation that is begun by its first words. */
  session_id: string | null;
  /** The turn that answers, if one does. */
  turn_id: number | null;
  /** Words that were taken back, to be said differently. */
  offer: string | null;
  /** Where a file is to be had. */
  download: string | null;
}

/** A command as somebody wrote it. */
export interface CommandRequest {
  line: string;
}

/** Something that can be asked for with a slash. */
export interface CommandView {
  name: string;
  /** What may follow it. */
  arguments: string;
  /** How it is written. */
  usage: string;
  /** What it does, in a sentence. */
  help: string;
  /** What it does while a turn runs. */
  while_running: WhileRunning;
  /** The least rank that may ask for it. */
  who: AccessLevel;
}

/** What a summary shall look at above all. */
export interface CompressRequest {
  focus?: string;
}

/** What came of making room. */
export interface CompressedView {
  /** As a sentence: what was done, or why nothing was. */
  said: string;
  /** The cut that was made; null: nothing was done. */
  cut: HiddenRangeView | null;
}

/** How full the context of a session is, and what it cost. */
export interface ContextView {
  /** How long the last prompt was; null: nobody counted one since the session began, or was compacted. */
  prompt_tokens: number | null;
  /** Nothing was said or hidden since; otherwise the next prompt will differ. */
  is_exact: boolean;
  /** How much the model reads at once; null: unknown. */
  context_tokens: number | null;
  /** The share of it from which on room is made. */
  compact_at: number;
  spent: SpentView;
  /** Yours and the session's; for an owner all. */
  caps: CapView[];
}

/** How well a cost is known. */
export type CostStatus = "exact" | "estimated" | "unknown";

/** A project, and how many sessions in it are not archived. */
export interface CountedProjectView {
  project: ProjectView;
  sessions: number;
}

/** How many sessions there are of each sort. */
export interface CountsView {
  total: number;
  unread: number;
  pinned: number;
  by_platform: Record<string, number>;
  by_project: Record<string, number>;
  archived: number;
  scheduled: number;
}

/** A place to which nothing can be sent, until something can again. */
export interface DeadView {
  place: AddressView;
  dead_at: string;
  why: string | null;
}

/** What a decision brought a turn to. */
export interface DecidedView {
  turn_id: number;
  state: TurnState;
}

/** What is decided about what an agent asks. */
export interface DecisionRequest {
  approval: Approval;
  /** The question that is decided, by the `asked_at` of its turn as it was shown. */
  asked_at: string;
  /** How long permission is given for. */
  extent?: PermissionDuration;
  /** What the agent is told. */
  words?: string;
}

/** What would go if something were forgotten now. */
export interface DeletionPreviewView {
  sessions: string[];
  shared: string[];
  branches: string[];
  messages: number;
  attachments: number;
  senders: number;
}

/** How far a forgetting has come. */
export type DeletionState = "removing" | "wiping" | "done";

/** Where a reply stands on its way out. */
export type DeliveryState = "pending" | "sending" | "sent" | "failed" | "abandoned";

/** Something owed to a place, without what has to be said. */
export interface DeliveryView {
  id: number;
  session: string | null;
  turn: number | null;
  /** The line that it carries, if a person said it in the agent's place. */
  seq: number | null;
  place: AddressView;
  state: DeliveryState;
  attempts: number;
  owed_at: string;
  due_at: string;
  sent_at: string | null;
  /** When it was sent again, perhaps unneeded. */
  repeated_at: string | null;
  /** It may have been seen already; what is sent again is then marked so. */
  is_doubtful: boolean;
  error: string | null;
}

/** What a running turn does. */
export type DeltaKind = "text" | "thought" | "line";

/** What a device has begun to write, the latest first. */
export interface DraftListView {
  items: DraftView[];
}

/** What a device has begun to write; nothing at all forgets it. */
export interface DraftRequest {
  text: string;
}

/** Unsent words, in a session or in the one that is not there yet. */
export interface DraftView {
  session_id: string | null;
  text: string;
  changed_at: string;
}

/** The branch in which a line reads differently, and the turn that answers it there. */
export interface EditedView {
  session: SessionView;
  turn_id: number;
}

/** Why a session ended. */
export type EndReason = "new" | "idle" | "daily" | "suspended" | "closed" | "switched" | "linked" | "parted";

/** What became true, of a session and what is in it, or of something beside all sessions. */
export type EventKind = "session.opened" | "session.changed" | "session.suspended" | "session.ended" | "session.forgotten" | "message.added" | "message.changed" | "transcript.changed" | "turn.queued" | "turn.running" | "turn.waiting" | "turn.done" | "turn.failed" | "turn.stopped" | "turn.interrupted" | "turn.moved" | "delivery.pending" | "delivery.sending" | "delivery.sent" | "delivery.failed" | "delivery.abandoned" | "project.changed" | "job.changed" | "access.changed" | "person.changed" | "allowance.changed" | "home.changed" | "gateway.changed" | "settings.changed" | "share.changed" | "account.changed" | "audit.noted";

/** What a session can be written in. */
export type ExportFormat = "md" | "html" | "jsonl";

/** Something that could not be made of the settings: there everything is as it was. */
export interface FailureView {
  table: string;
  message: string;
}

/** What is wrong with one field of a request. */
export interface FieldErrorView {
  /** Its place, as `body.title`. */
  field: string;
  message: string;
}

/** A page of what was found, the best first. */
export interface FoundView {
  /** By their titles; on the first page only. */
  sessions: TitleHitView[];
  items: HitView[];
  /** Give this as `after` for the next page. */
  next: string | null;
  /** False while much is still to be indexed. */
  is_complete: boolean;
}

/** One process that serves, and its platforms. */
export interface GatewayView {
  host: string;
  pid: number;
  version: string;
  url: string | null;
  started_at: string;
  beat_at: string;
  /** It has not been heard from for a minute. */
  is_silent: boolean;
  places: TurnCapacityView;
  platforms: HealthView[];
  /** The MCP servers that its agents use. */
  servers: ServerView[];
}

/** Somebody to be let in without a code. */
export interface GrantRequest {
  /** Who is meant: the platform, a colon, and the id there. */
  sender: string;
  name?: string | null;
}

/** Somebody whom the owner let in, beside those whom the settings name. */
export interface GrantView {
  sender: string;
  name: string | null;
  granted_at: string;
}

/** How a platform is in one gateway, since when, and what went wrong last. */
export interface HealthView {
  name: string;
  state: PlatformState;
  since: string;
  error: string | null;
}

/** Why a stretch of a transcript is hidden. */
export type HiddenRangeKind = "undone" | "retried" | "compacted";

/** One stretch of a transcript that is out of sight, its first and last line included. */
export interface HiddenRangeView {
  key: number;
  kind: HiddenRangeKind;
  from_seq: number;
  to_seq: number;
  /** What a person wrote and, because of this cut, does not see any more. */
  user_messages: number;
  /** What the model is shown in its place. */
  summary: string | null;
  made_at: string;
}

/** All cuts of a transcript, in the order they were made. */
export interface HiddenRangesView {
  items: HiddenRangeView[];
}

/** How much an export takes. */
export type HistoryExtent = "all" | "profile" | "project" | "person";

/** A line that says what was looked for. */
export interface HitView {
  session_id: string;
  seq: number;
  key: number;
  role: Role;
  at: string;
  /** That of its session. */
  title: string | null;
  snippet: SnippetView;
  /** 1 for the best. */
  rank: number;
}

/** Where unasked messages go on a platform. */
export interface HomeView {
  platform: string;
  place: AddressView;
}

/** Something that was not imported, and why. */
export interface ImportIssueView {
  line: number;
  what: string;
  session: string | null;
}

/** What came of an import. */
export interface ImportView {
  added: number;
  /** Of those added, how many have a new id. */
  copied: number;
  /** They were there already. */
  skipped: number;
  /** They were forgotten here, and stay so. */
  forgotten: number;
  /** There are others with the same id. */
  conflicts: number;
  bad: number;
  messages: number;
  attachments: number;
  /** Of those added, how many are without the folder, tools or model address. */
  without_settings: number;
  problems: ImportIssueView[];
}

/** What came of something that arrived. */
export type InboundOutcome = "queued" | "joined" | "observed" | "changed" | "early" | "ignored" | "answered" | "command" | "refused";

/** A job to be made. */
export interface JobRequest {
  prompt: string;
  /** As `every day 9:00`, `every 30m`, `at 2027-01-31 18:00` or a cron line. */
  schedule: string;
  timezone?: string;
  /** Where the answer goes, as `telegram:42`; several with commas between them. */
  target?: string;
  mirror?: MirrorMode;
  /** Empty: the first words of its prompt. */
  name?: string;
}

/** What shall be different about a job; what is left out stays. */
export interface JobUpdateRequest {
  prompt?: string | null;
  /** As `every day 9:00`, `every 30m`, `at 2027-01-31 18:00` or a cron line. */
  schedule?: string | null;
  timezone?: string | null;
  target?: string | null;
  mirror?: MirrorMode | null;
  /** Empty: the first words of its prompt. */
  name?: string | null;
}

/** A prompt that is asked by itself. */
export interface JobView {
  id: number;
  profile: string;
  name: string;
  prompt: string;
  schedule: string;
  timezone: string;
  target: string;
  mirror: MirrorMode;
  /** Null: the owner of the installation. */
  maker: string | null;
  made_at: string;
  paused_at: string | null;
  /** When it is asked next; null: never again. */
  next_at: string | null;
  /** Null: there was none yet. */
  last_run: RunView | null;
}

/** Two senders who are one person. */
export interface JoinRequest {
  /** Who is meant: the platform, a colon, and the id there. */
  one: string;
  /** Who is meant: the platform, a colon, and the id there. */
  other: string;
}

/** What sort of place an address is. */
export type Kind = "dm" | "group" | "channel" | "thread";

/** A model that a conversation may use. */
export interface KnownModelView {
  /** As `/model` takes it. */
  name: string;
  provider: string;
  /** It answers where nobody chose another one. */
  is_default: boolean;
  /** The settings name it. */
  is_offered: boolean;
  /** Its provider has a key here, or asks for none. */
  is_usable: boolean;
  /** How much it reads at once; null: unknown. */
  context_tokens: number | null;
  /** US dollars for a million tokens, at the least; null: unknown. */
  input_price: string | null;
  output_price: string | null;
}

/** The kin of a session, as far as whoever asks may see it. */
export interface LineageView {
  root_id: string | null;
  parent_id: string | null;
  cause: Cause;
  first_id: string | null;
  latest_id: string | null;
  /** The newest of them. */
  children: ChildView[];
  number_of_children: number;
}

/** A link that logs in once. */
export interface LinkView {
  /** Give it to whoever is to log in; it is shown once. Null: the same request was answered before. */
  link: string | null;
  expires_at: string;
}

/** Which part of a profile's sessions a list is about. */
export type ListSection = "sidebar" | "archived" | "scheduled" | "all";

/** A sender, and the person that they are. */
export interface ListedSenderView {
  sender: string;
  name: string | null;
  /** Null: they have not spoken yet. */
  first_seen_at: string | null;
  /** Null: they are linked with nobody. */
  person: number | null;
}

/** What there is to do, and how large the database is, in bytes. */
export interface LoadView {
  queued: number;
  running: number;
  owed: number;
  size: number;
}

/** A browser that is logged in. */
export interface LoginView {
  key: number;
  /** How it calls itself. */
  device: string;
  /** Whether it is the one that asks. */
  is_this: boolean;
  made_at: string;
  seen_at: string;
  expires_at: string;
}

/** How many browsers were logged out. */
export interface LoginsEndedView {
  ended: number;
}

/** How far somebody has read. */
export interface MarkRequest {
  /** The last line that was read; null: all of them. */
  seq?: number | null;
}

/** How far somebody has read. */
export interface MarkView {
  seq: number;
}

/** What went wrong, where a transcript shows that something did. */
export type MarkerKind = "interrupted" | "failed" | "stopped" | "expired" | "spending" | "forgotten";

/** A trace of something that went wrong, and why. */
export interface MarkerPart {
  type: "marker";
  kind: MarkerKind;
  text: string;
}

/** Who asks, and what they may do. */
export interface MeView {
  account: AccountView;
  /** As whom they speak: the `sender_id` of their messages. */
  sender_id: string;
  scopes: TokenScope[];
  /** The key of this login; null: a token asks. */
  login: number | null;
  /** Send this as `X-CSRF-Token` with everything that changes something; null: a token asks, which needs none. */
  csrf: string | null;
}

/** What sort of thing is attached. */
export type MediaKind = "image" | "file" | "audio";

/** A stretch of a transcript, in order. */
export interface MessagePageView {
  items: MessageView[];
  /** Give this as `before` for what is earlier, if any is. */
  before: number | null;
  /** Give this as `after` for what is later. */
  after: number | null;
}

/** Words for a conversation. */
export interface MessageRequest {
  text?: string;
  /** The tickets of what was uploaded. */
  attachments?: string[];
  /** Whether the agent is asked. */
  speech?: Speech;
  /** What becomes of it while a turn runs; null: as everywhere. */
  busy_mode?: BusyMode | null;
}

/** One line of a transcript. */
export interface MessageView {
  key: number;
  /** Where it was written; of a branch's shared lines its base. */
  session_id: string;
  /** Its place; null while it waits for its turn. */
  seq: number | null;
  role: Role;
  parts: (TextPart | AttachmentPart | ToolCallPart | ToolResultPart | ReasoningPart | MarkerPart | NotePart)[];
  /** When it was written. */
  at: string;
  /** When it arrived, if that was noticeably later. */
  arrived_at: string | null;
  turn_id: number | null;
  sender_id: string | null;
  sender_name: string | null;
  changed_at: string | null;
  deleted_at: string | null;
}

/** A long transcript seen from afar. */
export interface MinimapView {
  items: BucketView[];
}

/** Whether the answer of a run also becomes part of a conversation. */
export type MirrorMode = "none" | "target";

/** The model that a session shall use; its address is for an owner to choose. */
export interface ModelRequest {
  model: string;
  provider?: string | null;
  base_url?: string | null;
}

/** The model that a session was told to use. */
export interface ModelView {
  model: string;
  provider: string | null;
  base_url: string | null;
}

/** A passkey that a browser made. */
export interface NewPasskeyRequest {
  challenge: string;
  /** What `navigator.credentials` gave, as its `toJSON()` writes it. */
  credential: Record<string, unknown>;
  name: string;
}

/** A token that was just made. */
export interface NewTokenView {
  key: number;
  name: string;
  scopes: TokenScope[];
  made_at: string;
  used_at: string | null;
  expires_at: string | null;
  /** Keep it: it is shown once. Null: the same request was answered before. */
  token: string | null;
}

/** Why a note for the agent quotes something. */
export type NoteKind = "carried_over" | "summary" | "edited" | "deleted";

/** A note for the agent that quotes messages, or says what happened to one. */
export interface NotePart {
  type: "note";
  kind: NoteKind;
  text: string;
}

/** Who began a session. */
export type Origin = "person" | "job" | "import";

/** A page of a list. */
export interface PageAccountView {
  items: AccountView[];
  /** Give this as `after` for the next page; null: there is none. */
  next: string | null;
}

/** A page of a list. */
export interface PageAuditView {
  items: AuditView[];
  /** Give this as `after` for the next page; null: there is none. */
  next: string | null;
}

/** A page of a list. */
export interface PageCapView {
  items: CapView[];
  /** Give this as `after` for the next page; null: there is none. */
  next: string | null;
}

/** A page of a list. */
export interface PageCertificateView {
  items: CertificateView[];
  /** Give this as `after` for the next page; null: there is none. */
  next: string | null;
}

/** A page of a list. */
export interface PageCommandView {
  items: CommandView[];
  /** Give this as `after` for the next page; null: there is none. */
  next: string | null;
}

/** A page of a list. */
export interface PageCountedProjectView {
  items: CountedProjectView[];
  /** Give this as `after` for the next page; null: there is none. */
  next: string | null;
}

/** A page of a list. */
export interface PageDeadView {
  items: DeadView[];
  /** Give this as `after` for the next page; null: there is none. */
  next: string | null;
}

/** A page of a list. */
export interface PageDeliveryView {
  items: DeliveryView[];
  /** Give this as `after` for the next page; null: there is none. */
  next: string | null;
}

/** A page of a list. */
export interface PageGrantView {
  items: GrantView[];
  /** Give this as `after` for the next page; null: there is none. */
  next: string | null;
}

/** A page of a list. */
export interface PageHomeView {
  items: HomeView[];
  /** Give this as `after` for the next page; null: there is none. */
  next: string | null;
}

/** A page of a list. */
export interface PageJobView {
  items: JobView[];
  /** Give this as `after` for the next page; null: there is none. */
  next: string | null;
}

/** A page of a list. */
export interface PageKnownModelView {
  items: KnownModelView[];
  /** Give this as `after` for the next page; null: there is none. */
  next: string | null;
}

/** A page of a list. */
export interface PageListedSenderView {
  items: ListedSenderView[];
  /** Give this as `after` for the next page; null: there is none. */
  next: string | null;
}

/** A page of a list. */
export interface PageLoginView {
  items: LoginView[];
  /** Give this as `after` for the next page; null: there is none. */
  next: string | null;
}

/** A page of a list. */
export interface PageMessageView {
  items: MessageView[];
  /** Give this as `after` for the next page; null: there is none. */
  next: string | null;
}

/** A page of a list. */
export interface PagePasskeyView {
  items: PasskeyView[];
  /** Give this as `after` for the next page; null: there is none. */
  next: string | null;
}

/** A page of a list. */
export interface PagePersonView {
  items: PersonView[];
  /** Give this as `after` for the next page; null: there is none. */
  next: string | null;
}

/** A page of a list. */
export interface PageProbeView {
  items: ProbeView[];
  /** Give this as `after` for the next page; null: there is none. */
  next: string | null;
}

/** A page of a list. */
export interface PageProfileView {
  items: ProfileView[];
  /** Give this as `after` for the next page; null: there is none. */
  next: string | null;
}

/** A page of a list. */
export interface PageQueuedView {
  items: QueuedView[];
  /** Give this as `after` for the next page; null: there is none. */
  next: string | null;
}

/** A page of a list. */
export interface PageRevisionView {
  items: RevisionView[];
  /** Give this as `after` for the next page; null: there is none. */
  next: string | null;
}

/** A page of a list. */
export interface PageRunView {
  items: RunView[];
  /** Give this as `after` for the next page; null: there is none. */
  next: string | null;
}

/** A page of a list. */
export interface PageSessionRowView {
  items: SessionRowView[];
  /** Give this as `after` for the next page; null: there is none. */
  next: string | null;
}

/** A page of a list. */
export interface PageShareView {
  items: ShareView[];
  /** Give this as `after` for the next page; null: there is none. */
  next: string | null;
}

/** A page of a list. */
export interface PageTokenView {
  items: TokenView[];
  /** Give this as `after` for the next page; null: there is none. */
  next: string | null;
}

/** A page of a list. */
export interface PageToolPermissionView {
  items: ToolPermissionView[];
  /** Give this as `after` for the next page; null: there is none. */
  next: string | null;
}

/** A page of a list. */
export interface PageTurnView {
  items: TurnView[];
  /** Give this as `after` for the next page; null: there is none. */
  next: string | null;
}

/** A page of a list. */
export interface PageUsageView {
  items: UsageView[];
  /** Give this as `after` for the next page; null: there is none. */
  next: string | null;
}

/** A page of a list. */
export interface PageWaitingView {
  items: WaitingView[];
  /** Give this as `after` for the next page; null: there is none. */
  next: string | null;
}

/** The code that somebody was shown who wants to be let in. */
export interface PairingApprovalRequest {
  code: string;
  platform?: string | null;
}

/** What a browser made of it. */
export interface PasskeyAnswerRequest {
  challenge: string;
  /** What `navigator.credentials` gave, as its `toJSON()` writes it. */
  credential: Record<string, unknown>;
}

/** What a browser needs to make a passkey, or to sign with one. */
export interface PasskeyQuestionView {
  /** Send it back with the answer. */
  challenge: string;
  /** For `navigator.credentials`, binary values in base64url. */
  options: Record<string, unknown>;
}

/** A passkey on a device of somebody. */
export interface PasskeyView {
  key: number;
  name: string;
  made_at: string;
  used_at: string | null;
}

/** A new password. */
export interface PasswordChangeRequest {
  /** At least ten characters, and none of those that everybody guesses. */
  new: string;
  /** The one until now, if there is one. */
  old?: string | null;
  /** Revoke all your tokens, too. */
  end_tokens?: boolean;
}

/** Who wants to log in, and how they prove it. */
export interface PasswordLoginRequest {
  name: string;
  password: string;
}

/** The password of an account that is logged in. */
export interface PasswordProofRequest {
  password: string;
}

/** A day or a month by the clock of one time zone. */
export interface PeriodView {
  name: string;
  begins_at: string;
  ends_at: string;
}

/** For how long leave is given. */
export type PermissionDuration = "once" | "session" | "always";

/** Another name for a person. */
export interface PersonRenameRequest {
  name: string;
}

/** Somebody who speaks through several senders. */
export interface PersonView {
  key: number;
  name: string | null;
  made_at: string;
  senders: SenderView[];
  /** Its `ETag`: whoever changes it sends it back as `If-Match`, in quotes. */
  revision: string;
}

/** Whether a platform can be reached. */
export type PlatformState = "connecting" | "up" | "down";

/** A platform of the gateway that answers. */
export interface PlatformView {
  name: string;
  can: CapabilitiesView;
  /** Null: it has yet to be begun. */
  health: HealthView | null;
  /** Where unprompted messages go; null: nowhere yet. */
  home: AddressView | null;
}

/** All gateways and platforms. */
export interface PlatformsView {
  /** Of the gateway that answers. */
  platforms: PlatformView[];
  /** All that serve this database. */
  gateways: GatewayView[];
  load: LoadView;
}

/** By which rules a session goes on. */
export interface PolicyView {
  /** The conversations that go on with it. */
  routes: string[];
  mode: ResetMode;
  idle_minutes: number;
  at_hour: number;
  timezone: string;
  notify: boolean;
  /** What the next session begins with. */
  carry: string;
  /** When it is over if nothing more happens; null: never, or it is over already. */
  resets_at: string | null;
  /** Why the next message would begin a new session; null: it would go on here. */
  next_cause: Cause | null;
  /** What becomes of words while a turn runs. */
  busy_mode: BusyMode;
  /** What was chosen for this session; null: it is as on its platform. */
  chosen_busy_mode: BusyMode | null;
}

/** What is to be called. */
export interface ProbeRequest {
  /** A model, mcp, agent or platform, and its name in the settings; none: all. */
  names?: string[];
}

/** What was looked at, and what came of it. */
export interface ProbeView {
  name: string;
  /** Who replied, or what went wrong. */
  told: string;
  is_well: boolean;
}

/** What went wrong, to which id, and what to do. */
export interface Problem {
  /** Always `about:blank`. */
  type?: string;
  /** The kind of error, as `NotFound`. */
  title: string;
  /** The HTTP status, once more. */
  status: number;
  /** What happened, as a sentence. */
  detail: string;
  /** What it happened to. */
  id?: string | null;
  /** What to do. */
  hint?: string | null;
  /** Which fields are wrong. */
  errors?: FieldErrorView[] | null;
}

/** What conversations are kept apart by. */
export interface ProfileView {
  name: string;
  is_main: boolean;
}

/** The colours that a project may have; screens know them in light and dark. */
export type ProjectColor = "gray" | "red" | "orange" | "yellow" | "green" | "teal" | "blue" | "purple" | "pink";

/** Who made a project. */
export type ProjectKind = "own" | "scheduled";

/** A project to be made. */
export interface ProjectRequest {
  name: string;
  color?: ProjectColor;
  profile?: string | null;
}

/** What of a project shall be different. */
export interface ProjectUpdateRequest {
  name?: string | null;
  color?: ProjectColor | null;
}

/** Sessions of one profile that belong together. */
export interface ProjectView {
  key: number;
  profile: string;
  name: string;
  color: ProjectColor;
  kind: ProjectKind;
  made_at: string;
}

/** A message that waits for its turn. */
export interface QueuedView {
  key: number;
  /** Where it was written; of a branch's shared lines its base. */
  session_id: string;
  /** Its place; null while it waits for its turn. */
  seq: number | null;
  role: Role;
  parts: (TextPart | AttachmentPart | ToolCallPart | ToolResultPart | ReasoningPart | MarkerPart | NotePart)[];
  /** When it was written. */
  at: string;
  /** When it arrived, if that was noticeably later. */
  arrived_at: string | null;
  turn_id: number | null;
  sender_id: string | null;
  sender_name: string | null;
  changed_at: string | null;
  deleted_at: string | null;
  /** Its `ETag`: whoever changes it sends it back as `If-Match`, in quotes. */
  revision: string;
}

/** The model's thoughts. */
export interface ReasoningPart {
  type: "reasoning";
  text: string;
}

/** What is shown again. */
export interface RedoneView {
  from_seq: number;
  messages: number;
}

/** What ends a session. */
export type ResetMode = "none" | "idle" | "daily" | "both" | "daily_and_idle";

/** A turn that answers the last words of a person once more. */
export interface RetriedView {
  turn_id: number;
  /** The lines of the answer before it, which are hidden now. */
  messages: number;
}

/** What a message said before it was changed. */
export interface RevisionView {
  version: number;
  parts: (TextPart | AttachmentPart | ToolCallPart | ToolResultPart | ReasoningPart | MarkerPart | NotePart)[];
  replaced_at: string;
}

/** Who speaks in a line of the transcript. */
export type Role = "user" | "assistant" | "tool" | "system";

/** How often somebody spoke and got an answer. */
export interface RoundsView {
  rounds: number;
}

/** One time that a job was due. */
export interface RunView {
  id: number;
  /** `waiting`, `running`, `done`, `failed` or `skipped`. */
  state: string;
  due_at: string;
  started_at: string;
  ended_at: string | null;
  session: string | null;
  turn: number | null;
  why: string | null;
}

/** One sender. */
export interface SenderRequest {
  /** Who is meant: the platform, a colon, and the id there. */
  sender: string;
}

/** Somebody as a platform knows them. */
export interface SenderView {
  sender: string;
  name: string | null;
  /** Null: they have not spoken yet. */
  first_seen_at: string | null;
}

/** What came of words that were said. */
export interface SentView {
  outcome: InboundOutcome;
  session_id: string | null;
  /** The turn that answers them, if one does. */
  turn_id: number | null;
  /** They had been said before, and nothing new was done. */
  is_repeated: boolean;
}

/** Whether an MCP server can be reached. */
export type ServerState = "idle" | "up" | "down";

/** The state of an MCP server in one gateway. */
export interface ServerView {
  name: string;
  state: ServerState;
  since: string;
  /** How many tools it listed. */
  tools: number;
  /** The last error, also if the server is up again. */
  error: string | null;
  error_at: string | null;
}

/** The first words of a conversation; without them there is none. */
export interface SessionRequest {
  text?: string;
  /** The tickets of what was uploaded. */
  attachments?: string[];
  profile?: string | null;
  title?: string | null;
  project?: number | null;
  model?: ModelRequest | null;
}

/** A session as a list shows it. */
export interface SessionRowView {
  session: SessionView;
  /** Where it takes place, as a person would call it. */
  label: string;
  people: string[];
  people_count: number;
  last_words: string | null;
  /** Who said them. */
  last_speaker: SpeakerView | null;
  /** The state of the turn under way, if there is one. */
  held: TurnState | null;
  queued: number;
  project_name: string | null;
  is_unread: boolean;
  has_draft: boolean;
  /** What was last said to its people did not reach all of them. */
  has_failed_delivery: boolean;
  needs_you: boolean;
  is_read_only: boolean;
}

/** What a screen keeps of one session, and the feed keeps true. */
export interface SessionSnapshotView {
  /** Events up to this one are in it. */
  revision: number;
  /** The number of its last line. */
  last_seq: number;
  /** The session, its latest turns and deliveries, and the state of each. */
  states: Record<string, string>;
}

/** What shall be different; what is not named stays, and null takes a choice back. */
export interface SessionUpdateRequest {
  title?: string;
  is_pinned?: boolean | null;
  is_archived?: boolean | null;
  /** Null takes it out of its project. */
  project?: number | null;
  model?: ModelRequest | null;
  busy_mode?: BusyMode | null;
  personality?: string | null;
  tools?: string[] | null;
  workspace?: string | null;
}

/** One stretch of conversation. */
export interface SessionView {
  id: string;
  /** Grows with every event of the session. */
  revision: number;
  profile: string;
  platform: string;
  kind: Kind;
  origin: Origin;
  title: string | null;
  titled_by: TitleSource | null;
  parent_id: string | null;
  root_id: string | null;
  base_id: string | null;
  base_seq: number | null;
  cause: Cause;
  opened_at: string;
  last_activity_at: string;
  ended_at: string | null;
  end_reason: EndReason | null;
  suspended_at: string | null;
  last_seq: number;
  user_messages: number;
  project: number | null;
  pinned_at: string | null;
  archived_at: string | null;
  model: ModelView | null;
  personality: string | null;
  tools: string[] | null;
  workspace: string | null;
  worktree: WorktreeView | null;
  /** Since when a person answers here instead of the agent; null: the agent does. */
  taken_at: string | null;
  /** Who has taken it over. */
  taken_by: string | null;
}

/** What a setting is. */
export type SettingKind = "text" | "number" | "truth" | "list" | "table";

/** What kind of place a setting came from. */
export type SettingOrigin = "default" | "file" | "variable" | "option";

/** One setting. Of a secret only its presence is shown. */
export interface SettingView {
  key: string;
  kind: SettingKind;
  /** A secret reads ••••••, unless it says where it stands. */
  value: unknown;
  default: unknown;
  origin: SettingOrigin;
  /** The file, variable or option from which it came. */
  place: string | null;
  /** An option, a variable or the project's file sets it, and wins over the file. */
  overridden: boolean;
  /** What it does; null: only its platform knows. */
  help: string | null;
  /** What it must be. */
  description: string | null;
  /** The words that it may be; none: others too. */
  choices: string[];
  secret: boolean;
  /** It can be changed here, and not only at the machine itself. */
  remote: boolean;
  /** A change takes effect only after a restart. */
  restart: boolean;
}

/** Settings by their dotted names. A secret is kept in a file that only its owner can read. */
export interface SettingsUpdateRequest {
  set?: Record<string, unknown>;
  unset?: string[];
}

/** All settings by which this server goes. */
export interface SettingsView {
  /** Where changes are written. */
  file: string;
  items: SettingView[];
}

/** A conversation to be shared. */
export interface ShareRequest {
  session: string;
}

/** A page that is shared, or was. */
export interface ShareView {
  id: string;
  /** Where it is read, without a login. */
  path: string;
  session: string;
  title: string;
  size: number;
  made_at: string;
  revoked_at: string | null;
}

/** What is true at one place of the feed. */
export interface SnapshotView {
  /** Follow the feed from here on. */
  cursor: string;
  /** Those that were asked for and may be seen, by their ids. */
  sessions: Record<string, SessionSnapshotView>;
}

/** A stretch of a text, and where in it the words stand that were looked for. */
export interface SnippetView {
  text: string;
  /** From and to of what was found, counted in characters. */
  ranges: [number, number][];
}

/** Who said the last words of a session. */
export interface SpeakerView {
  role: Role;
  /** null: nobody knows, or it was the agent. */
  name: string | null;
}

/** For whom words are meant. */
export type Speech = "ask" | "answer";

/** What a session has spent, all together. */
export interface SpentView {
  calls: number;
  /** Calls whose cost is not known; they count as nothing. */
  unpriced: number;
  input_tokens: number;
  output_tokens: number;
  /** US dollars. */
  cost: string | null;
  cost_status: CostStatus;
}

/** What came of starting a job. */
export interface StartView {
  job: number;
  state: string;
  turn: number | null;
  why: string | null;
}

/** A page of a conversation through all its continuations. */
export interface StitchedView {
  items: MessageView[];
  /** Give this as `before` for what is earlier. */
  before: string | null;
  /** Give this as `after` for what is later. */
  after: string | null;
}

/** Whether something was stopped. */
export interface StoppedView {
  /** The turn; null: nothing was under way. */
  turn_id: number | null;
}

/** How far a session has come: its lines, and what is said but no line yet. */
export interface StreamingView {
  last_seq: number;
  /** The turn that runs. */
  turn_id: number | null;
  /** What it has said since the last line; at most a second late. */
  text: string;
}

/** Words. */
export interface TextPart {
  type: "text";
  text: string;
}

/** What a line reads from now on. */
export interface TextRequest {
  text: string;
}

/** When a schedule comes next. */
export interface TimesView {
  /** Empty: never again. */
  items: string[];
}

/** A session whose title says what was looked for. */
export interface TitleHitView {
  session_id: string;
  title: SnippetView;
  last_activity_at: string;
}

/** Who gave a session its title; a later one in this list wins over an earlier one. */
export type TitleSource = "first_words" | "model" | "person";

/** A token that somebody wants. */
export interface TokenRequest {
  name: string;
  /** What it may do, and nothing else. */
  scopes: TokenScope[];
  /** For how long it is worth something; null: always, or as long as the token that creates it. */
  days?: number | null;
}

/** What somebody may do who shows a token; a login of the web app may do all of it. */
export type TokenScope = "read" | "write" | "admin";

/** A token with which programs use the API. */
export interface TokenView {
  key: number;
  name: string;
  scopes: TokenScope[];
  made_at: string;
  used_at: string | null;
  expires_at: string | null;
}

/** The agent asks for a tool. */
export interface ToolCallPart {
  type: "tool_call";
  id: string;
  name: string;
  /** JSON, as the model wrote it. */
  arguments: string;
}

/** Leave to use a tool without asking. */
export interface ToolPermissionView {
  key: number;
  profile: string;
  /** Null: in every conversation of the profile. */
  session_id: string | null;
  tool: string;
  extent: PermissionDuration;
  allowed_at: string;
  by_name: string | null;
}

/** What a tool returned. */
export interface ToolResultPart {
  type: "tool_result";
  call_id: string;
  text: string;
  is_error: boolean;
}

/** How many turns a gateway may run at a time, and how many it runs. */
export interface TurnCapacityView {
  total: number;
  taken: number;
  /** Of those taken: by agents that have said nothing for five minutes. */
  silent: number;
}

/** Where a turn stands. */
export type TurnState = "queued" | "running" | "waiting" | "done" | "failed" | "stopped" | "interrupted";

/** One request being answered. */
export interface TurnView {
  id: number;
  session_id: string;
  state: TurnState;
  attempts: number;
  queued_at: string;
  started_at: string | null;
  ended_at: string | null;
  first_seq: number | null;
  /** What it asks while it waits, or asked last. */
  question: string | null;
  /** When it asked; no two of its questions have one. */
  asked_at: string | null;
  /** The tools it asks permission for. */
  asks: string[];
  /** Who has to approve those tools; null: the settings say who. */
  awaits: Awaits | null;
  answer: string | null;
  error: string | null;
  answered_by: number | null;
}

/** How much is taken back. */
export interface UndoRequest {
  turns?: number;
}

/** What was taken back. */
export interface UndoneView {
  from_seq: number;
  messages: number;
  turns: number;
  /** What the person had written, in order, so that it can be offered again. */
  texts: string[];
}

/** What a platform counts when it limits the length of a text. */
export type Unit = "characters" | "utf16" | "bytes";

/** What came of taking a sender out of their person. */
export interface UnlinkView {
  /** False: they were linked with nobody. */
  parted: boolean;
  /** The sessions that end, as both spoke in them. */
  ended: string[];
}

/** A file that is kept for a day, and for as long as a message uses it. */
export interface UploadView {
  /** The SHA-256 of its content, by which it is found. */
  blob: string;
  kind: MediaKind;
  /** By its content, whatever the request said. */
  media_type: string;
  size: number;
  name: string | null;
  /** Give this with a message; it is yours, for a day. */
  ticket: string;
}

/** What usage is added up by. */
export type UsageBy = "turn" | "session" | "model" | "task" | "person" | "day";

/** What many calls spent together. */
export interface UsageView {
  /** Turn, session, `provider/model`, task, day, or who asked; empty: unknown. */
  subject: string;
  /** The title of a session, or the name of a person. */
  name: string | null;
  calls: number;
  /** Calls whose cost is not known; they count as nothing. */
  unpriced: number;
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  reasoning_tokens: number;
  /** US dollars. */
  cost: string | null;
  cost_status: CostStatus;
}

/** Somebody who asked to be let in; the code was shown to them alone. */
export interface WaitingView {
  sender: string;
  name: string | null;
  asked_at: string;
  expires_at: string;
}

/** What a command does while a turn runs. */
export type WhileRunning = "run" | "wait" | "stop";

/** A working copy of a repository that a session has for itself. */
export interface WorktreeView {
  path: string;
  branch: string;
  repository: string;
  /** Since when. */
  at: string;
}

/** Every operation of the API: what it takes, and what it answers. */
export interface Operations {
  /** Read a page of sessions, pinned ones first, then the latest activity. */
  list_sessions: {
    path: never;
    query: {
      /** The profile; your own where none is named. */
      profile?: string | null | undefined;
      /** Whose drafts are marked. */
      device?: string | null | undefined;
      /** Exactly these, whatever becomes of them. */
      ids?: string[] | undefined;
      /** Where to go on: what the page before called `next`. */
      after?: string | null | undefined;
      /** How many to answer at the most. */
      most?: number | undefined;
      shelf?: ListSection | undefined;
      platform?: string | null | undefined;
      kind?: Kind | null | undefined;
      origin?: Origin | null | undefined;
      project?: number | null | undefined;
      person?: number | null | undefined;
      sender?: string | null | undefined;
      is_pinned?: boolean | null | undefined;
      is_unread?: boolean | null | undefined;
      is_ended?: boolean | null | undefined;
      has_worktree?: boolean | null | undefined;
      active_since?: string | null | undefined;
      title?: string | null | undefined;
      with_empty?: boolean | undefined;
    };
    header: never;
    body: never;
    answer: PageSessionRowView;
  };
  /** Start a conversation with its first message; before that nothing is stored. */
  begin_session: {
    path: never;
    query: never;
    header: {
      /** Any text of your own. For a day the same request with the same key is answered as the first one was, and makes nothing new. */
      "Idempotency-Key"?: string | null | undefined;
    };
    body: SessionRequest;
    answer: SentView;
  };
  /** Count the sessions of a profile by source and project, for its owner. */
  count_sessions: {
    path: never;
    query: {
      /** The profile; your own where none is named. */
      profile?: string | null | undefined;
    };
    header: never;
    body: never;
    answer: CountsView;
  };
  /** Read a session; pass its `ETag` as `If-Match` to change it. */
  read_session: {
    path: {
      /** The id of a session. */
      id: string;
    };
    query: never;
    header: never;
    body: never;
    answer: SessionView;
  };
  /** Forget a session for good: rows, attachments, index, journal and free pages. */
  forget_session: {
    path: {
      /** The id of a session. */
      id: string;
    };
    query: never;
    header: {
      /** The `ETag` that was seen, or `*` for whatever there is now. */
      "If-Match"?: string | null | undefined;
    };
    body: never;
    answer: CertificateView;
  };
  /** Rename, pin, archive or move a session, or choose how its agent works. */
  change_session: {
    path: {
      /** The id of a session. */
      id: string;
    };
    query: never;
    header: {
      /** The `ETag` that was seen, or `*` for whatever there is now. */
      "If-Match"?: string | null | undefined;
    };
    body: SessionUpdateRequest;
    answer: SessionView;
  };
  /** End a session; the next message there starts a new one. */
  end_session: {
    path: {
      /** The id of a session. */
      id: string;
    };
    query: never;
    header: never;
    body: never;
    answer: SessionView;
  };
  /** Read what the turn under way has said so far, whichever process runs it. */
  read_streaming: {
    path: {
      /** The id of a session. */
      id: string;
    };
    query: never;
    header: never;
    body: never;
    answer: StreamingView;
  };
  /** Mark everything up to a line, or everything, as read. This never moves the mark back. */
  mark_read: {
    path: {
      /** The id of a session. */
      id: string;
    };
    query: never;
    header: never;
    body: MarkRequest;
    answer: MarkView;
  };
  /** Mark everything from a line on, or only the last line, as unread. */
  mark_unread: {
    path: {
      /** The id of a session. */
      id: string;
    };
    query: {
      seq?: number | null | undefined;
    };
    header: never;
    body: never;
    answer: MarkView;
  };
  /** Count the questions that were answered, in all or since a moment. */
  count_rounds: {
    path: {
      /** The id of a session. */
      id: string;
    };
    query: {
      since?: string | null | undefined;
    };
    header: never;
    body: never;
    answer: RoundsView;
  };
  /** Tell what would be removed with a session, without changing anything. */
  plan_forgetting: {
    path: {
      /** The id of a session. */
      id: string;
    };
    query: never;
    header: never;
    body: never;
    answer: DeletionPreviewView;
  };
  /** Read a page of a transcript, in order: its end, or what is before, after or around a line. */
  list_messages: {
    path: {
      /** The id of a session. */
      id: string;
    };
    query: {
      before?: number | null | undefined;
      after?: number | null | undefined;
      around?: number | null | undefined;
      /** How many to answer at the most. */
      most?: number | undefined;
      /** Include what was undone or retried. */
      hidden?: boolean | undefined;
    };
    header: never;
    body: never;
    answer: MessagePageView;
  };
  /** Send a message in a session, whichever platform it lives on. */
  send_message: {
    path: {
      /** The id of a session. */
      id: string;
    };
    query: never;
    header: {
      /** Any text of your own. For a day the same request with the same key is answered as the first one was, and makes nothing new. */
      "Idempotency-Key"?: string | null | undefined;
    };
    body: MessageRequest;
    answer: SentView;
  };
  /** Read one line of a transcript, even one that is out of sight. */
  read_message: {
    path: {
      /** The id of a session. */
      id: string;
      /** The place of a line. */
      seq: number;
    };
    query: never;
    header: never;
    body: never;
    answer: MessageView;
  };
  /** Read what a line said before it was changed, oldest first. */
  list_revisions: {
    path: {
      /** The id of a session. */
      id: string;
      /** The place of a line. */
      seq: number;
    };
    query: never;
    header: never;
    body: never;
    answer: PageRevisionView;
  };
  /** Edit a message of a person, in a branch that starts before it. */
  edit_message: {
    path: {
      /** The id of a session. */
      id: string;
      /** The place of a line. */
      seq: number;
    };
    query: never;
    header: {
      /** Any text of your own. For a day the same request with the same key is answered as the first one was, and makes nothing new. */
      "Idempotency-Key"?: string | null | undefined;
    };
    body: TextRequest;
    answer: EditedView;
  };
  /** Start a session that shares the transcript up to a line. */
  branch_session: {
    path: {
      /** The id of a session. */
      id: string;
      /** The place of a line. */
      seq: number;
    };
    query: never;
    header: {
      /** Any text of your own. For a day the same request with the same key is answered as the first one was, and makes nothing new. */
      "Idempotency-Key"?: string | null | undefined;
    };
    body: BranchRequest;
    answer: SessionView;
  };
  /** Answer the people of a session on a platform yourself, in the agent's place. */
  take_over: {
    path: {
      /** The id of a session. */
      id: string;
    };
    query: never;
    header: never;
    body: never;
    answer: SessionView;
  };
  /** Let the agent answer the next message again; it reads what was said meanwhile with that. */
  hand_back: {
    path: {
      /** The id of a session. */
      id: string;
    };
    query: never;
    header: never;
    body: never;
    answer: SessionView;
  };
  /** Tell of each stretch of a transcript who speaks in it, and what went wrong or is hidden. */
  read_minimap: {
    path: {
      /** The id of a session. */
      id: string;
    };
    query: {
      buckets?: number | undefined;
    };
    header: never;
    body: never;
    answer: MinimapView;
  };
  /** Tell which routes lead to a session, when it ends automatically, and its busy mode. */
  read_policy: {
    path: {
      /** The id of a session. */
      id: string;
    };
    query: never;
    header: never;
    body: never;
    answer: PolicyView;
  };
  /** Pin, archive, move, mark as read or forget up to 200 sessions. */
  arrange_sessions: {
    path: never;
    query: never;
    header: never;
    body: BatchRequest;
    answer: BatchView;
  };
  /** List the stretches of a transcript that are out of sight, in the order they were made. */
  list_cuts: {
    path: {
      /** The id of a session. */
      id: string;
    };
    query: never;
    header: never;
    body: never;
    answer: HiddenRangesView;
  };
  /** Take back what a person said last, and everything after it. */
  undo_turns: {
    path: {
      /** The id of a session. */
      id: string;
    };
    query: never;
    header: {
      /** Any text of your own. For a day the same request with the same key is answered as the first one was, and makes nothing new. */
      "Idempotency-Key"?: string | null | undefined;
    };
    body: UndoRequest;
    answer: UndoneView;
  };
  /** Show what was undone last again, if nothing has been said since. */
  redo_turns: {
    path: {
      /** The id of a session. */
      id: string;
    };
    query: never;
    header: {
      /** Any text of your own. For a day the same request with the same key is answered as the first one was, and makes nothing new. */
      "Idempotency-Key"?: string | null | undefined;
    };
    body: never;
    answer: RedoneView;
  };
  /** Hide the last answer, and queue a turn that answers the same message again. */
  retry_turn: {
    path: {
      /** The id of a session. */
      id: string;
    };
    query: never;
    header: {
      /** Any text of your own. For a day the same request with the same key is answered as the first one was, and makes nothing new. */
      "Idempotency-Key"?: string | null | undefined;
    };
    body: never;
    answer: RetriedView;
  };
  /** Let a summary replace the older part of a transcript, with a focus if you name one. */
  compress_session: {
    path: {
      /** The id of a session. */
      id: string;
    };
    query: never;
    header: {
      /** Any text of your own. For a day the same request with the same key is answered as the first one was, and makes nothing new. */
      "Idempotency-Key"?: string | null | undefined;
    };
    body: CompressRequest;
    answer: CompressedView;
  };
  /** Let the model read again what the last compaction replaced. */
  undo_compaction: {
    path: {
      /** The id of a session. */
      id: string;
    };
    query: never;
    header: never;
    body: never;
    answer: HiddenRangeView;
  };
  /** Read a page of the turns of a session, the newest first. */
  list_turns: {
    path: {
      /** The id of a session. */
      id: string;
    };
    query: {
      /** Where to go on: what the page before called `next`. */
      after?: string | null | undefined;
      /** How many to answer at the most. */
      most?: number | undefined;
    };
    header: never;
    body: never;
    answer: PageTurnView;
  };
  /** Read the state of a turn. */
  read_turn: {
    path: {
      /** The id of a turn. */
      turn_id: number;
    };
    query: never;
    header: never;
    body: never;
    answer: TurnView;
  };
  /** Read what a turn has said to people: its answers, and why it ended early. */
  read_reply: {
    path: {
      /** The id of a turn. */
      turn_id: number;
    };
    query: never;
    header: never;
    body: never;
    answer: PageMessageView;
  };
  /** Stop a turn and keep what it has said; one still in the queue will never run. */
  stop_turn: {
    path: {
      /** The id of a turn. */
      turn_id: number;
    };
    query: never;
    header: never;
    body: never;
    answer: StoppedView;
  };
  /** Stop the turn a session has under way; those in the queue still run. */
  stop_session: {
    path: {
      /** The id of a session. */
      id: string;
    };
    query: never;
    header: never;
    body: never;
    answer: StoppedView;
  };
  /** Read the messages that wait for their turn, in order. */
  list_queue: {
    path: {
      /** The id of a session. */
      id: string;
    };
    query: never;
    header: never;
    body: never;
    answer: PageQueuedView;
  };
  /** Change a message of your own that is waiting for its turn. */
  change_queued: {
    path: {
      /** The id of a session. */
      id: string;
      /** The key of a message that waits. */
      key: number;
    };
    query: never;
    header: {
      /** The `ETag` that was seen, or `*` for whatever there is now. */
      "If-Match"?: string | null | undefined;
    };
    body: TextRequest;
    answer: QueuedView;
  };
  /** Take back a waiting message, so that it is never answered. */
  unqueue_message: {
    path: {
      /** The id of a session. */
      id: string;
      /** The key of a message that waits. */
      key: number;
    };
    query: never;
    header: never;
    body: never;
    answer: StoppedView;
  };
  /** List the commands you may use, in the order in which help shows them. */
  list_commands: {
    path: never;
    query: never;
    header: never;
    body: never;
    answer: PageCommandView;
  };
  /** Do in a session what the same line does in a chat, and return the reply. */
  give_command: {
    path: {
      /** The id of a session. */
      id: string;
    };
    query: never;
    header: {
      /** Any text of your own. For a day the same request with the same key is answered as the first one was, and makes nothing new. */
      "Idempotency-Key"?: string | null | undefined;
    };
    body: CommandRequest;
    answer: CommandReplyView;
  };
  /** Tell how full the context is, what was spent, and how near the caps are. */
  read_context: {
    path: {
      /** The id of a session. */
      id: string;
    };
    query: never;
    header: never;
    body: never;
    answer: ContextView;
  };
  /** List the turns that wait for an answer you may give, latest first. */
  list_approvals: {
    path: never;
    query: {
      /** The profile; your own where none is named. */
      profile?: string | null | undefined;
      /** Where to go on: what the page before called `next`. */
      after?: string | null | undefined;
      /** How many to answer at the most. */
      most?: number | undefined;
    };
    header: never;
    body: never;
    answer: PageTurnView;
  };
  /** Say yes or no to what an agent asks, with an optional note. */
  decide_approval: {
    path: {
      /** The id of a turn. */
      turn_id: number;
    };
    query: never;
    header: never;
    body: DecisionRequest;
    answer: DecidedView;
  };
  /** List the tools that need no approval, in a profile or in one session. */
  list_allowances: {
    path: never;
    query: {
      /** The profile; your own where none is named. */
      profile?: string | null | undefined;
      /** The session that is meant. */
      session?: string | null | undefined;
    };
    header: never;
    body: never;
    answer: PageToolPermissionView;
  };
  /** Revoke permission: from its next turn on the agent asks again. */
  revoke_allowance: {
    path: {
      /** The number of a permission. */
      key: number;
    };
    query: never;
    header: never;
    body: never;
    answer: ToolPermissionView;
  };
  /** List the drafts of one of your devices, latest first. */
  list_drafts: {
    path: never;
    query: {
      /** A name of your own for the device. */
      device: string;
      /** The profile; your own where none is named. */
      profile?: string | null | undefined;
    };
    header: never;
    body: never;
    answer: DraftListView;
  };
  /** Keep a draft of a device; an empty one deletes it. Returns all its drafts. */
  put_draft: {
    path: never;
    query: {
      /** A name of your own for the device. */
      device: string;
      /** The session that is meant. */
      session?: string | null | undefined;
      /** The profile; your own where none is named. */
      profile?: string | null | undefined;
    };
    header: never;
    body: DraftRequest;
    answer: DraftListView;
  };
  /** Delete a draft of a device: it was sent, or thrown away. */
  delete_draft: {
    path: never;
    query: {
      /** A name of your own for the device. */
      device: string;
      /** The session that is meant. */
      session?: string | null | undefined;
      /** The profile; your own where none is named. */
      profile?: string | null | undefined;
    };
    header: never;
    body: never;
    answer: undefined;
  };
  /** Find what was said: words, "phrases", -exclusions, beginnings* and *parts* of words. */
  find_messages: {
    path: never;
    query: {
      text: string;
      /** The last word may be unfinished. */
      is_typing?: boolean | undefined;
      /** The profile; your own where none is named. */
      profile?: string | null | undefined;
      role?: Role[] | null | undefined;
      platform?: string | null | undefined;
      kind?: Kind | null | undefined;
      person?: number | null | undefined;
      project?: number | null | undefined;
      /** The session that is meant. */
      session?: string | null | undefined;
      since?: string | null | undefined;
      until?: string | null | undefined;
      is_archived?: boolean | null | undefined;
      /** Where to go on: what the page before called `next`. */
      after?: string | null | undefined;
      most?: number | undefined;
    };
    header: never;
    body: never;
    answer: FoundView;
  };
  /** Tell where a session comes from, what came of it, and where it continues now. */
  read_lineage: {
    path: {
      /** The id of a session. */
      id: string;
    };
    query: never;
    header: never;
    body: never;
    answer: LineageView;
  };
  /** Read a page of a conversation through all its continuations, as one transcript. */
  read_stitched: {
    path: {
      /** The id of a session. */
      id: string;
    };
    query: {
      before?: string | null | undefined;
      after?: string | null | undefined;
      /** How many to answer at the most. */
      most?: number | undefined;
    };
    header: never;
    body: never;
    answer: StitchedView;
  };
  /** List the projects of a profile by name, and how many sessions each has. */
  list_projects: {
    path: never;
    query: {
      /** The profile; your own where none is named. */
      profile?: string | null | undefined;
    };
    header: never;
    body: never;
    answer: PageCountedProjectView;
  };
  /** Create a project; its name must be unique in the profile. */
  make_project: {
    path: never;
    query: never;
    header: {
      /** Any text of your own. For a day the same request with the same key is answered as the first one was, and makes nothing new. */
      "Idempotency-Key"?: string | null | undefined;
    };
    body: ProjectRequest;
    answer: ProjectView;
  };
  /** Read a project; pass its `ETag` as `If-Match` to change it. */
  read_project: {
    path: {
      /** The key of a project. */
      key: number;
    };
    query: never;
    header: never;
    body: never;
    answer: ProjectView;
  };
  /** Delete a project; its sessions are kept, without a project. */
  delete_project: {
    path: {
      /** The key of a project. */
      key: number;
    };
    query: never;
    header: {
      /** The `ETag` that was seen, or `*` for whatever there is now. */
      "If-Match"?: string | null | undefined;
    };
    body: never;
    answer: undefined;
  };
  /** Give a project another name or colour. */
  change_project: {
    path: {
      /** The key of a project. */
      key: number;
    };
    query: never;
    header: {
      /** The `ETag` that was seen, or `*` for whatever there is now. */
      "If-Match"?: string | null | undefined;
    };
    body: ProjectUpdateRequest;
    answer: ProjectView;
  };
  /** Log in with a name and password. */
  log_in_by_password: {
    path: never;
    query: never;
    header: never;
    body: PasswordLoginRequest;
    answer: MeView;
  };
  /** Get what a browser needs to sign with a passkey. */
  ask_passkey: {
    path: never;
    query: never;
    header: never;
    body: never;
    answer: PasskeyQuestionView;
  };
  /** Log in with a passkey that signed the question. The answer sets a cookie. */
  log_in_by_passkey: {
    path: never;
    query: never;
    header: never;
    body: PasskeyAnswerRequest;
    answer: MeView;
  };
  /** Log this browser out. */
  log_out: {
    path: never;
    query: never;
    header: never;
    body: never;
    answer: undefined;
  };
  /** Tell who you are, what you may do, and the CSRF token that every change needs. */
  read_me: {
    path: never;
    query: never;
    header: never;
    body: never;
    answer: MeView;
  };
  /** Set your password. All other browsers are logged out, on wish also programs with tokens. */
  set_password: {
    path: never;
    query: never;
    header: never;
    body: PasswordChangeRequest;
    answer: undefined;
  };
  /** Prove again who you are, with your password. */
  prove_by_password: {
    path: never;
    query: never;
    header: never;
    body: PasswordProofRequest;
    answer: undefined;
  };
  /** Get what a browser needs to prove with a passkey who you are. */
  ask_proof: {
    path: never;
    query: never;
    header: never;
    body: never;
    answer: PasskeyQuestionView;
  };
  /** Prove again who you are, with a passkey of yours that signed the question. */
  prove_by_passkey: {
    path: never;
    query: never;
    header: never;
    body: PasskeyAnswerRequest;
    answer: undefined;
  };
  /** List your passkeys. */
  list_passkeys: {
    path: never;
    query: never;
    header: never;
    body: never;
    answer: PagePasskeyView;
  };
  /** Add a passkey to log in with. A question is good for one answer. */
  add_passkey: {
    path: never;
    query: never;
    header: never;
    body: NewPasskeyRequest;
    answer: PasskeyView;
  };
  /** Get what a browser needs to create a passkey, within ten minutes of a login or a proof. */
  ask_new_passkey: {
    path: never;
    query: never;
    header: never;
    body: never;
    answer: PasskeyQuestionView;
  };
  /** Delete a passkey: it no longer logs you in. */
  delete_passkey: {
    path: {
      /** The key of a passkey. */
      key: number;
    };
    query: never;
    header: never;
    body: never;
    answer: undefined;
  };
  /** List the browsers in which you are logged in, the last seen first. */
  list_logins: {
    path: never;
    query: never;
    header: never;
    body: never;
    answer: PageLoginView;
  };
  /** Log out all your other browsers. */
  end_other_logins: {
    path: never;
    query: never;
    header: never;
    body: never;
    answer: LoginsEndedView;
  };
  /** Log out one of your browsers. */
  end_login: {
    path: {
      /** The key of a login. */
      key: number;
    };
    query: never;
    header: never;
    body: never;
    answer: undefined;
  };
  /** List your tokens, newest first. Their values are not shown again. */
  list_tokens: {
    path: never;
    query: never;
    header: never;
    body: never;
    answer: PageTokenView;
  };
  /** Create a token for a program. Only the first answer shows it. */
  make_token: {
    path: never;
    query: never;
    header: {
      /** Any text of your own. For a day the same request with the same key is answered as the first one was, and makes nothing new. */
      "Idempotency-Key"?: string | null | undefined;
    };
    body: TokenRequest;
    answer: NewTokenView;
  };
  /** Revoke a token, and the tokens that were created with it. */
  end_token: {
    path: {
      /** The key of a token. */
      key: number;
    };
    query: never;
    header: never;
    body: never;
    answer: undefined;
  };
  /** List everybody who may use the web app, oldest account first. */
  list_accounts: {
    path: never;
    query: {
      /** Where to go on: what the page before called `next`. */
      after?: string | null | undefined;
      /** How many to answer at the most. */
      most?: number | undefined;
    };
    header: never;
    body: never;
    answer: PageAccountView;
  };
  /** Add a member, who may use the web app. A login link or a password lets them in. */
  make_account: {
    path: never;
    query: never;
    header: {
      /** Any text of your own. For a day the same request with the same key is answered as the first one was, and makes nothing new. */
      "Idempotency-Key"?: string | null | undefined;
    };
    body: AccountRequest;
    answer: AccountView;
  };
  /** Read an account. */
  read_account: {
    path: {
      /** The key of an account. */
      key: number;
    };
    query: never;
    header: never;
    body: never;
    answer: AccountView;
  };
  /** End an account: nobody can use it any longer. Its conversations are kept. */
  end_account: {
    path: {
      /** The key of an account. */
      key: number;
    };
    query: never;
    header: never;
    body: never;
    answer: undefined;
  };
  /** Rename an account; from then on its password goes with the new name. */
  rename_account: {
    path: {
      /** The key of an account. */
      key: number;
    };
    query: never;
    header: {
      /** The `ETag` that was seen, or `*` for whatever there is now. */
      "If-Match"?: string | null | undefined;
    };
    body: AccountRenameRequest;
    answer: AccountView;
  };
  /** Create a link that logs somebody in once, within 15 minutes. */
  make_login_link: {
    path: {
      /** The key of an account. */
      key: number;
    };
    query: never;
    header: {
      /** Any text of your own. For a day the same request with the same key is answered as the first one was, and makes nothing new. */
      "Idempotency-Key"?: string | null | undefined;
    };
    body: never;
    answer: LinkView;
  };
  /** Remove a password, for example when somebody forgot it. */
  drop_password: {
    path: {
      /** The key of an account. */
      key: number;
    };
    query: never;
    header: never;
    body: never;
    answer: undefined;
  };
  /** Log somebody out everywhere; if it is you, except for this browser. */
  end_logins_of: {
    path: {
      /** The key of an account. */
      key: number;
    };
    query: never;
    header: never;
    body: never;
    answer: LoginsEndedView;
  };
  /** Read administrative acts, latest first. They contain no secrets and no messages. */
  list_audit: {
    path: never;
    query: {
      /** Where to go on: what the page before called `next`. */
      after?: string | null | undefined;
      /** How many to answer at the most. */
      most?: number | undefined;
    };
    header: never;
    body: never;
    answer: PageAuditView;
  };
  /** Return the state of sessions and a place in the feed from which to follow it. */
  read_state: {
    path: never;
    query: {
      /** Sessions whose state is sent at the start. */
      sessions?: string[] | undefined;
      /** The profile; your own where none is named. */
      profile?: string | null | undefined;
    };
    header: never;
    body: never;
    answer: SnapshotView;
  };
  /** Follow the feed, from a place in it or from now. */
  follow: {
    path: never;
    query: {
      /** Sessions whose state is sent at the start. */
      sessions?: string[] | undefined;
      /** Sessions whose running turns are streamed word by word. */
      live?: string[] | undefined;
      /** The profile; your own where none is named. */
      profile?: string | null | undefined;
      /** A place in the feed: the `cursor` of a snapshot, the `id` of an event. */
      after?: string | null | undefined;
    };
    header: {
      /** The same, as sent by a browser that reconnects. */
      "Last-Event-ID"?: string | null | undefined;
    };
    body: never;
    answer: Response;
  };
  /** List the profiles: those that the settings name, and those in which somebody spoke. */
  list_profiles: {
    path: never;
    query: never;
    header: never;
    body: never;
    answer: PageProfileView;
  };
  /** List everybody who speaks through several senders. */
  list_people: {
    path: never;
    query: {
      /** Where to go on: what the page before called `next`. */
      after?: string | null | undefined;
      /** How many to answer at the most. */
      most?: number | undefined;
    };
    header: never;
    body: never;
    answer: PagePersonView;
  };
  /** List everybody known on any platform, in the order in which they came. */
  list_senders: {
    path: never;
    query: {
      /** Where to go on: what the page before called `next`. */
      after?: string | null | undefined;
      /** How many to answer at the most. */
      most?: number | undefined;
    };
    header: never;
    body: never;
    answer: PageListedSenderView;
  };
  /** Show the certificates of what was forgotten, the newest first. */
  list_forgettings: {
    path: never;
    query: {
      /** Where to go on: what the page before called `next`. */
      after?: string | null | undefined;
      /** How many to answer at the most. */
      most?: number | undefined;
    };
    header: never;
    body: never;
    answer: PageCertificateView;
  };
  /** Forget somebody for good: their sessions, their words elsewhere, and the answers to them. */
  forget_person: {
    path: never;
    query: never;
    header: never;
    body: SenderRequest;
    answer: CertificateView;
  };
  /** Tell what would be removed with somebody. Nothing is changed. */
  plan_forgetting_person: {
    path: never;
    query: never;
    header: never;
    body: SenderRequest;
    answer: DeletionPreviewView;
  };
  /** Make two senders one person. Their messages stay where they are. */
  join_senders: {
    path: never;
    query: never;
    header: never;
    body: JoinRequest;
    answer: PersonView;
  };
  /** Make a sender a person of their own again. */
  part_sender: {
    path: never;
    query: never;
    header: never;
    body: SenderRequest;
    answer: UnlinkView;
  };
  /** Read a person. */
  read_person: {
    path: {
      /** The key of a person. */
      key: number;
    };
    query: never;
    header: never;
    body: never;
    answer: PersonView;
  };
  /** Rename a person. */
  rename_person: {
    path: {
      /** The key of a person. */
      key: number;
    };
    query: never;
    header: {
      /** The `ETag` that was seen, or `*` for whatever there is now. */
      "If-Match"?: string | null | undefined;
    };
    body: PersonRenameRequest;
    answer: PersonView;
  };
  /** List who is waiting to be let in. Only they know their codes. */
  list_waiting: {
    path: never;
    query: {
      /** The profile; your own where none is named. */
      profile?: string | null | undefined;
    };
    header: never;
    body: never;
    answer: PageWaitingView;
  };
  /** Let in whoever was shown a code. After five wrong codes none is accepted for an hour. */
  approve_pairing: {
    path: never;
    query: {
      /** The profile; your own where none is named. */
      profile?: string | null | undefined;
    };
    header: {
      /** Any text of your own. For a day the same request with the same key is answered as the first one was, and makes nothing new. */
      "Idempotency-Key"?: string | null | undefined;
    };
    body: PairingApprovalRequest;
    answer: GrantView;
  };
  /** List everybody who was let in, in addition to those named in the settings. */
  list_grants: {
    path: never;
    query: {
      /** The profile; your own where none is named. */
      profile?: string | null | undefined;
    };
    header: never;
    body: never;
    answer: PageGrantView;
  };
  /** Let somebody in without a code. */
  allow_sender: {
    path: never;
    query: {
      /** The profile; your own where none is named. */
      profile?: string | null | undefined;
    };
    header: {
      /** Any text of your own. For a day the same request with the same key is answered as the first one was, and makes nothing new. */
      "Idempotency-Key"?: string | null | undefined;
    };
    body: GrantRequest;
    answer: GrantView;
  };
  /** Revoke somebody's access, or reject a request. Those named in the settings keep theirs. */
  revoke_sender: {
    path: never;
    query: {
      /** Who is meant. */
      sender: string;
      /** The profile; your own where none is named. */
      profile?: string | null | undefined;
    };
    header: never;
    body: never;
    answer: undefined;
  };
  /** Show the state of every gateway and platform, and what the platforms can do. */
  list_platforms: {
    path: never;
    query: {
      /** The profile; your own where none is named. */
      profile?: string | null | undefined;
    };
    header: never;
    body: never;
    answer: PlatformsView;
  };
  /** List where unprompted messages go, one chat per platform. People set it with /sethome. */
  list_homes: {
    path: never;
    query: {
      /** The profile; your own where none is named. */
      profile?: string | null | undefined;
    };
    header: never;
    body: never;
    answer: PageHomeView;
  };
  /** List the places to which nothing can be sent, the latest first. */
  list_dead_targets: {
    path: never;
    query: {
      /** Where to go on: what the page before called `next`. */
      after?: string | null | undefined;
      /** How many to answer at the most. */
      most?: number | undefined;
    };
    header: never;
    body: never;
    answer: PageDeadView;
  };
  /** List what is or was owed for a session, the newest first. */
  list_deliveries: {
    path: never;
    query: {
      /** The session that is asked about. */
      session: string;
      /** Only what is in this state, or in one of several; none: in any. */
      state?: DeliveryState[] | null | undefined;
      /** Where to go on: what the page before called `next`. */
      after?: string | null | undefined;
      /** How many to answer at the most. */
      most?: number | undefined;
    };
    header: never;
    body: never;
    answer: PageDeliveryView;
  };
  /** List what was not delivered, on any platform, newest first. */
  list_lost_deliveries: {
    path: never;
    query: {
      /** Where to go on: what the page before called `next`. */
      after?: string | null | undefined;
      /** How many to answer at the most. */
      most?: number | undefined;
    };
    header: never;
    body: never;
    answer: PageDeliveryView;
  };
  /** Send something again that was not delivered. */
  retry_delivery: {
    path: {
      /** The number of a delivery. */
      id: number;
    };
    query: never;
    header: never;
    body: never;
    answer: DeliveryView;
  };
  /** List the jobs of a profile, oldest first; a member sees their own. */
  list_jobs: {
    path: never;
    query: {
      /** The profile; your own where none is named. */
      profile?: string | null | undefined;
      /** Where to go on: what the page before called `next`. */
      after?: string | null | undefined;
      /** How many to answer at the most. */
      most?: number | undefined;
    };
    header: never;
    body: never;
    answer: PageJobView;
  };
  /** Create a job. A member's job answers themselves: its target is `origin`. */
  make_job: {
    path: never;
    query: {
      /** The profile; your own where none is named. */
      profile?: string | null | undefined;
    };
    header: {
      /** Any text of your own. For a day the same request with the same key is answered as the first one was, and makes nothing new. */
      "Idempotency-Key"?: string | null | undefined;
    };
    body: JobRequest;
    answer: JobView;
  };
  /** Tell when a schedule would run next, without creating a job. */
  list_times: {
    path: never;
    query: {
      /** As in the schedule of a job. */
      schedule: string;
      timezone?: string | undefined;
    };
    header: never;
    body: never;
    answer: TimesView;
  };
  /** Read a job. */
  read_job: {
    path: {
      /** The number of a job. */
      id: number;
    };
    query: never;
    header: never;
    body: never;
    answer: JobView;
  };
  /** Delete a job and the record of its runs; their sessions are kept. */
  delete_job: {
    path: {
      /** The number of a job. */
      id: number;
    };
    query: never;
    header: {
      /** The `ETag` that was seen, or `*` for whatever there is now. */
      "If-Match"?: string | null | undefined;
    };
    body: never;
    answer: undefined;
  };
  /** Change what a job asks, when, or where its answers go. */
  change_job: {
    path: {
      /** The number of a job. */
      id: number;
    };
    query: never;
    header: {
      /** The `ETag` that was seen, or `*` for whatever there is now. */
      "If-Match"?: string | null | undefined;
    };
    body: JobUpdateRequest;
    answer: JobView;
  };
  /** Pause a job; a run under way continues. */
  pause_job: {
    path: {
      /** The number of a job. */
      id: number;
    };
    query: never;
    header: never;
    body: never;
    answer: JobView;
  };
  /** Resume a job; runs it missed are not made up for. */
  resume_job: {
    path: {
      /** The number of a job. */
      id: number;
    };
    query: never;
    header: never;
    body: never;
    answer: JobView;
  };
  /** Run a job now, whatever its schedule says. */
  run_job: {
    path: {
      /** The number of a job. */
      id: number;
    };
    query: never;
    header: {
      /** Any text of your own. For a day the same request with the same key is answered as the first one was, and makes nothing new. */
      "Idempotency-Key"?: string | null | undefined;
    };
    body: never;
    answer: StartView;
  };
  /** List the runs of a job that are kept, the newest first. */
  list_runs: {
    path: {
      /** The number of a job. */
      id: number;
    };
    query: {
      /** Where to go on: what the page before called `next`. */
      after?: string | null | undefined;
      /** How many to answer at the most. */
      most?: number | undefined;
    };
    header: never;
    body: never;
    answer: PageRunView;
  };
  /** Add up usage. Days come in order, everything else with the most expensive first. */
  sum_usage: {
    path: never;
    query: {
      by?: UsageBy | undefined;
      since?: string | null | undefined;
      /** The end of the period, not included. */
      until?: string | null | undefined;
      /** Only what this session spent. */
      session?: string | null | undefined;
      person?: number | null | undefined;
      sender?: string | null | undefined;
      /** Only in this profile. */
      profile?: string | null | undefined;
      /** Whose days these are. */
      timezone?: string | undefined;
      /** Where to go on: what the page before called `next`. */
      after?: string | null | undefined;
      /** How many to answer at the most. */
      most?: number | undefined;
    };
    header: never;
    body: never;
    answer: PageUsageView;
  };
  /** Tell how near the caps are: your own, a session's and, for an owner, those of everybody. */
  list_caps: {
    path: never;
    query: {
      /** Only what this session spent. */
      session?: string | null | undefined;
    };
    header: never;
    body: never;
    answer: PageCapView;
  };
  /** List the models you may choose; those named in the settings come first. */
  list_models: {
    path: never;
    query: {
      /** The profile; your own where none is named. */
      profile?: string | null | undefined;
    };
    header: never;
    body: never;
    answer: PageKnownModelView;
  };
  /** Keep a file, so that a message can use it within a day. The body is the file itself. */
  upload_attachment: {
    path: never;
    query: {
      /** What the file is called. */
      name?: string | null | undefined;
    };
    header: never;
    body: Blob;
    answer: UploadView;
  };
  /** Give a file to whoever may see a message that shows it, or has just uploaded it. */
  download_attachment: {
    path: {
      /** The SHA-256 of the file's content. */
      hash: string;
    };
    query: {
      /** A session that shows it. */
      session?: string | null | undefined;
      /** What its upload answered. */
      ticket?: string | null | undefined;
    };
    header: {
      Range?: string | null | undefined;
      "If-None-Match"?: string | null | undefined;
    };
    body: never;
    answer: Response;
  };
  /** Write one session as a page for people, or as portable lines (`jsonl`). */
  export_session: {
    path: {
      /** The id of a session. */
      session_id: string;
    };
    query: {
      format?: ExportFormat | undefined;
      /** Leave out attachments; placeholders for people, numbers and keys. */
      redact?: boolean | undefined;
      /** Include what was undone or retried. */
      hidden?: boolean | undefined;
    };
    header: never;
    body: never;
    answer: Response;
  };
  /** Write all sessions of a profile, a project or a person, or all, as portable lines. */
  export_history: {
    path: never;
    query: {
      extent?: HistoryExtent | undefined;
      /** The profile; your own where none is named. */
      profile?: string | null | undefined;
      project?: string | null | undefined;
      person?: string | null | undefined;
      /** Leave out attachments; placeholders for people, numbers and keys. */
      redact?: boolean | undefined;
    };
    header: never;
    body: never;
    answer: Response;
  };
  /** Import portable lines from the body; what is already there is skipped. */
  import_history: {
    path: never;
    query: {
      /** Look at all of it, and change nothing. */
      dry_run?: boolean | undefined;
      /** Go on after what cannot be read. */
      skip_bad?: boolean | undefined;
      /** Give new ids where ids are taken. */
      as_copies?: boolean | undefined;
      /** Keep the folders, tools and model addresses of the file. */
      keep_settings?: boolean | undefined;
    };
    header: never;
    body: Blob;
    answer: ImportView;
  };
  /** List the pages that are or were shared, newest first; a member sees their own. */
  list_shares: {
    path: never;
    query: {
      /** Only of this one. */
      session?: string | null | undefined;
      /** Where to go on: what the page before called `next`. */
      after?: string | null | undefined;
      /** How many to answer at the most. */
      most?: number | undefined;
    };
    header: never;
    body: never;
    answer: PageShareView;
  };
  /** Share a conversation as it is now, as a page that anyone with the link can read. */
  make_share: {
    path: never;
    query: never;
    header: {
      /** Any text of your own. For a day the same request with the same key is answered as the first one was, and makes nothing new. */
      "Idempotency-Key"?: string | null | undefined;
    };
    body: ShareRequest;
    answer: ShareView;
  };
  /** Revoke a shared page: nobody can read it any longer. */
  revoke_share: {
    path: {
      /** The id of a page that is shared. */
      id: string;
    };
    query: never;
    header: never;
    body: never;
    answer: undefined;
  };
  /** List every setting, its current value, where it comes from, and what it may be. */
  list_all_settings: {
    path: never;
    query: never;
    header: never;
    body: never;
    answer: SettingsView;
  };
  /** Write settings to the file and apply them at once; if one is not valid, none is changed. */
  change_settings: {
    path: never;
    query: never;
    header: {
      /** The `ETag` that was seen, or `*` for whatever there is now. */
      "If-Match"?: string | null | undefined;
    };
    body: SettingsUpdateRequest;
    answer: ChangedSettingsView;
  };
  /** Reload the file, after somebody edited it by hand, and apply it. */
  reload_settings: {
    path: never;
    query: never;
    header: never;
    body: never;
    answer: ChangedSettingsView;
  };
  /** Call what the settings name, and tell what responds: a model is asked for one word. */
  probe_settings: {
    path: never;
    query: never;
    header: never;
    body: ProbeRequest;
    answer: PageProbeView;
  };
}

/** The method and the path of every operation, and how its answer is read. */
export const ROUTES = {
  list_sessions: ["GET", "/api/sessions", "data"],
  begin_session: ["POST", "/api/sessions", "data"],
  count_sessions: ["GET", "/api/sessions/counts", "data"],
  read_session: ["GET", "/api/sessions/{id}", "data"],
  forget_session: ["DELETE", "/api/sessions/{id}", "data"],
  change_session: ["PATCH", "/api/sessions/{id}", "data"],
  end_session: ["POST", "/api/sessions/{id}/end", "data"],
  read_streaming: ["GET", "/api/sessions/{id}/streaming", "data"],
  mark_read: ["PUT", "/api/sessions/{id}/mark", "data"],
  mark_unread: ["DELETE", "/api/sessions/{id}/mark", "data"],
  count_rounds: ["GET", "/api/sessions/{id}/rounds", "data"],
  plan_forgetting: ["GET", "/api/sessions/{id}/forgetting", "data"],
  list_messages: ["GET", "/api/sessions/{id}/messages", "data"],
  send_message: ["POST", "/api/sessions/{id}/messages", "data"],
  read_message: ["GET", "/api/sessions/{id}/messages/{seq}", "data"],
  list_revisions: ["GET", "/api/sessions/{id}/messages/{seq}/revisions", "data"],
  edit_message: ["POST", "/api/sessions/{id}/messages/{seq}/edits", "data"],
  branch_session: ["POST", "/api/sessions/{id}/messages/{seq}/branches", "data"],
  take_over: ["PUT", "/api/sessions/{id}/takeover", "data"],
  hand_back: ["DELETE", "/api/sessions/{id}/takeover", "data"],
  read_minimap: ["GET", "/api/sessions/{id}/minimap", "data"],
  read_policy: ["GET", "/api/sessions/{id}/policy", "data"],
  arrange_sessions: ["POST", "/api/batches", "data"],
  list_cuts: ["GET", "/api/sessions/{id}/cuts", "data"],
  undo_turns: ["POST", "/api/sessions/{id}/undo", "data"],
  redo_turns: ["POST", "/api/sessions/{id}/redo", "data"],
  retry_turn: ["POST", "/api/sessions/{id}/retry", "data"],
  compress_session: ["POST", "/api/sessions/{id}/compress", "data"],
  undo_compaction: ["DELETE", "/api/sessions/{id}/compaction", "data"],
  list_turns: ["GET", "/api/sessions/{id}/turns", "data"],
  read_turn: ["GET", "/api/turns/{turn_id}", "data"],
  read_reply: ["GET", "/api/turns/{turn_id}/reply", "data"],
  stop_turn: ["POST", "/api/turns/{turn_id}/stop", "data"],
  stop_session: ["POST", "/api/sessions/{id}/stop", "data"],
  list_queue: ["GET", "/api/sessions/{id}/queue", "data"],
  change_queued: ["PUT", "/api/sessions/{id}/queue/{key}", "data"],
  unqueue_message: ["DELETE", "/api/sessions/{id}/queue/{key}", "data"],
  list_commands: ["GET", "/api/commands", "data"],
  give_command: ["POST", "/api/sessions/{id}/commands", "data"],
  read_context: ["GET", "/api/sessions/{id}/context", "data"],
  list_approvals: ["GET", "/api/approvals", "data"],
  decide_approval: ["POST", "/api/approvals/{turn_id}", "data"],
  list_allowances: ["GET", "/api/allowances", "data"],
  revoke_allowance: ["DELETE", "/api/allowances/{key}", "data"],
  list_drafts: ["GET", "/api/drafts", "data"],
  put_draft: ["PUT", "/api/drafts", "data"],
  delete_draft: ["DELETE", "/api/drafts", "data"],
  find_messages: ["GET", "/api/search", "data"],
  read_lineage: ["GET", "/api/sessions/{id}/lineage", "data"],
  read_stitched: ["GET", "/api/sessions/{id}/stitched", "data"],
  list_projects: ["GET", "/api/projects", "data"],
  make_project: ["POST", "/api/projects", "data"],
  read_project: ["GET", "/api/projects/{key}", "data"],
  delete_project: ["DELETE", "/api/projects/{key}", "data"],
  change_project: ["PATCH", "/api/projects/{key}", "data"],
  log_in_by_password: ["POST", "/api/login/password", "data"],
  ask_passkey: ["POST", "/api/login/passkey/question", "data"],
  log_in_by_passkey: ["POST", "/api/login/passkey", "data"],
  log_out: ["DELETE", "/api/login", "data"],
  read_me: ["GET", "/api/me", "data"],
  set_password: ["PUT", "/api/me/password", "data"],
  prove_by_password: ["POST", "/api/me/proof", "data"],
  ask_proof: ["POST", "/api/me/proof/question", "data"],
  prove_by_passkey: ["POST", "/api/me/proof/passkey", "data"],
  list_passkeys: ["GET", "/api/me/passkeys", "data"],
  add_passkey: ["POST", "/api/me/passkeys", "data"],
  ask_new_passkey: ["POST", "/api/me/passkeys/question", "data"],
  delete_passkey: ["DELETE", "/api/me/passkeys/{key}", "data"],
  list_logins: ["GET", "/api/logins", "data"],
  end_other_logins: ["DELETE", "/api/logins", "data"],
  end_login: ["DELETE", "/api/logins/{key}", "data"],
  list_tokens: ["GET", "/api/tokens", "data"],
  make_token: ["POST", "/api/tokens", "data"],
  end_token: ["DELETE", "/api/tokens/{key}", "data"],
  list_accounts: ["GET", "/api/accounts", "data"],
  make_account: ["POST", "/api/accounts", "data"],
  read_account: ["GET", "/api/accounts/{key}", "data"],
  end_account: ["DELETE", "/api/accounts/{key}", "data"],
  rename_account: ["PATCH", "/api/accounts/{key}", "data"],
  make_login_link: ["POST", "/api/accounts/{key}/link", "data"],
  drop_password: ["DELETE", "/api/accounts/{key}/password", "data"],
  end_logins_of: ["DELETE", "/api/accounts/{key}/logins", "data"],
  list_audit: ["GET", "/api/audit", "data"],
  read_state: ["GET", "/api/snapshot", "data"],
  follow: ["GET", "/api/feed", "stream"],
  list_profiles: ["GET", "/api/profiles", "data"],
  list_people: ["GET", "/api/people", "data"],
  list_senders: ["GET", "/api/people/senders", "data"],
  list_forgettings: ["GET", "/api/people/forgettings", "data"],
  forget_person: ["POST", "/api/people/forgettings", "data"],
  plan_forgetting_person: ["POST", "/api/people/forgettings/plan", "data"],
  join_senders: ["POST", "/api/people/join", "data"],
  part_sender: ["POST", "/api/people/part", "data"],
  read_person: ["GET", "/api/people/{key}", "data"],
  rename_person: ["PATCH", "/api/people/{key}", "data"],
  list_waiting: ["GET", "/api/pairing/waiting", "data"],
  approve_pairing: ["POST", "/api/pairing/approve", "data"],
  list_grants: ["GET", "/api/pairing/grants", "data"],
  allow_sender: ["POST", "/api/pairing/grants", "data"],
  revoke_sender: ["DELETE", "/api/pairing/grants", "data"],
  list_platforms: ["GET", "/api/platforms", "data"],
  list_homes: ["GET", "/api/platforms/homes", "data"],
  list_dead_targets: ["GET", "/api/platforms/dead", "data"],
  list_deliveries: ["GET", "/api/deliveries", "data"],
  list_lost_deliveries: ["GET", "/api/deliveries/lost", "data"],
  retry_delivery: ["POST", "/api/deliveries/{id}/retry", "data"],
  list_jobs: ["GET", "/api/jobs", "data"],
  make_job: ["POST", "/api/jobs", "data"],
  list_times: ["GET", "/api/jobs/times", "data"],
  read_job: ["GET", "/api/jobs/{id}", "data"],
  delete_job: ["DELETE", "/api/jobs/{id}", "data"],
  change_job: ["PATCH", "/api/jobs/{id}", "data"],
  pause_job: ["POST", "/api/jobs/{id}/pause", "data"],
  resume_job: ["POST", "/api/jobs/{id}/resume", "data"],
  run_job: ["POST", "/api/jobs/{id}/run", "data"],
  list_runs: ["GET", "/api/jobs/{id}/runs", "data"],
  sum_usage: ["GET", "/api/usage", "data"],
  list_caps: ["GET", "/api/usage/caps", "data"],
  list_models: ["GET", "/api/models", "data"],
  upload_attachment: ["POST", "/api/attachments", "data"],
  download_attachment: ["GET", "/api/attachments/{hash}", "stream"],
  export_session: ["GET", "/api/exports/sessions/{session_id}", "stream"],
  export_history: ["GET", "/api/exports/history", "stream"],
  import_history: ["POST", "/api/imports", "data"],
  list_shares: ["GET", "/api/shares", "data"],
  make_share: ["POST", "/api/shares", "data"],
  revoke_share: ["DELETE", "/api/shares/{id}", "data"],
  list_all_settings: ["GET", "/api/settings", "data"],
  change_settings: ["PATCH", "/api/settings", "data"],
  reload_settings: ["POST", "/api/settings/reload", "data"],
  probe_settings: ["POST", "/api/probes", "data"],
} as const;
