// Written by `make docs` from the code. Changes here are lost.

/** Another name. */
export interface AccountRenaming {
  name: string;
}

/** What an account is to the installation. */
export type AccountRole = "owner" | "member";

/** Somebody who may use the web app. */
export interface AccountShape {
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

/** Leave to use a tool without asking. */
export interface AllowanceView {
  key: number;
  profile: string;
  /** Null: in every conversation of the profile. */
  session_id: string | null;
  tool: string;
  extent: Extent;
  allowed_at: string;
  by_name: string | null;
}

/** What a person decides about something that an agent asked leave for. */
export type Approval = "approved" | "denied";

/** An image, a file or a sound; its bytes are found below `/attachments`. */
export interface AttachmentPart {
  type?: "attachment";
  kind: MediaKind;
  /** The hash of its content. */
  blob: string;
  media_type: string;
  size: number;
  name?: string | null;
}

/** An administrative act. */
export interface AuditShape {
  id: number;
  at: string;
  /** Who did it. */
  account: string;
  act: string;
  subject: string;
  detail: string;
}

/** What became of each of several sessions. */
export interface BatchView {
  outcomes: OutcomeView[];
}

/** The same for several sessions. */
export interface BatchWish {
  ids: string[];
  action: "pin" | "unpin" | "archive" | "unarchive" | "move" | "read" | "forget";
  /** Where `move` puts them. */
  project?: number | null;
}

/** A branch of a conversation. */
export interface BranchWish {
  title?: string | null;
}

/** A stretch of a transcript, and what stands in it. */
export interface BucketView {
  first_seq: number;
  last_seq: number;
  user: number;
  assistant: number;
  tool: number;
  system: number;
  markers: number;
  hidden: number;
}

/** What becomes of a message that arrives while a turn runs. */
export type BusyMode = "queue" | "collect" | "interrupt" | "steer";

/** What a cap is set on. */
export type CapKind = "person_day" | "person_month" | "session" | "day" | "month";

/** A cap on spending, and what was spent under it so far, in US dollars. */
export interface CapShape {
  kind: CapKind;
  /** Who or what it is on; empty: everybody together. */
  subject: string;
  limit: string;
  spent: string;
  unpriced: number;
  /** Null: from the beginning on. */
  period: PeriodShape | null;
  /** It is near, or reached. */
  is_warned: boolean;
  /** Nothing more may be spent. */
  is_refused: boolean;
}

/** What a platform can do. */
export interface CapabilitiesShape {
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
  state: ForgettingState;
  asked_at: string;
  done_at: string | null;
  counts: Record<string, number>;
  out_of_reach: string[];
}

/** All settings after a change, and what does not hold yet. */
export interface ChangedSettings {
  /** Where changes are written. */
  file: string;
  items: SettingShape[];
  failures: Failure[];
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

/** Something that can be pressed instead of being written. */
export interface ChoiceShape {
  label: string;
  /** The line it sends. */
  says: string;
}

/** What came of a command. */
export interface CommandAnswer {
  /** The answer; empty where the transcript says it all. */
  text: string;
  choices: ChoiceShape[];
  /** Where the screen goes on; null: with a conversation that is begun by its first words. */
  session_id: string | null;
  /** The turn that answers, if one does. */
  turn_id: number | null;
  /** Words that were taken back, to be said differently. */
  offer: string | null;
  /** Where a file is to be had. */
  download: string | null;
}

/** Something that can be asked for with a slash. */
export interface CommandShape {
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
  who: Rank;
}

/** A command as somebody wrote it. */
export interface CommandWish {
  line: string;
}

/** What a summary shall look at above all. */
export interface CompressWish {
  focus?: string;
}

/** What came of making room. */
export interface CompressedView {
  /** As a sentence: what was done, or why nothing was. */
  said: string;
  /** The cut that was made; null: nothing was done. */
  cut: CutView | null;
}

/** How full the context of a session is, and what it cost. */
export interface ContextShape {
  /** How long the last prompt was; null: nobody counted one since the session began, or was compacted. */
  prompt_tokens: number | null;
  /** Nothing was said or hidden since; otherwise the next prompt will differ. */
  is_exact: boolean;
  /** How much the model reads at once; null: unknown. */
  context_tokens: number | null;
  /** The share of it from which on room is made. */
  compact_at: number;
  spent: SpentShape;
  /** Yours and the session's; for an owner all. */
  caps: CapShape[];
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

/** Why a stretch of a transcript is hidden. */
export type CutKind = "undone" | "retried" | "compacted";

/** All cuts of a transcript, in the order they were made. */
export interface CutList {
  items: CutView[];
}

/** A stretch of a transcript that is out of sight, its first and last line included. */
export interface CutView {
  key: number;
  kind: CutKind;
  from_seq: number;
  to_seq: number;
  user_messages: number;
  /** What the model is shown in its place. */
  summary: string | null;
  made_at: string;
}

/** A place to which nothing can be sent, until something can again. */
export interface DeadShape {
  place: PlaceShape;
  dead_at: string;
  why: string | null;
}

/** What a decision brought a turn to. */
export interface DecidedView {
  turn_id: number;
  state: TurnState;
}

/** What is decided about what an agent asks. */
export interface Decision {
  approval: Approval;
  /** The question that is decided, by the `asked_at` of its turn as it was shown. */
  asked_at: string;
  /** How long permission is given for. */
  extent?: Extent;
  /** What the agent is told. */
  words?: string;
}

/** Something owed to a place, without what has to be said. */
export interface DeliveryShape {
  id: number;
  session: string | null;
  turn: number | null;
  /** The line that it carries, if a person said it in the agent's place. */
  seq: number | null;
  place: PlaceShape;
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

/** Where a reply stands on its way out. */
export type DeliveryState = "pending" | "sending" | "sent" | "failed" | "abandoned";

/** What a running turn does. */
export type DeltaKind = "text" | "thought" | "line";

/** What a device has begun to write, the latest first. */
export interface DraftList {
  items: DraftView[];
}

/** Unsent words, in a session or in the one that is not there yet. */
export interface DraftView {
  session_id: string | null;
  text: string;
  changed_at: string;
}

/** What a device has begun to write; nothing at all forgets it. */
export interface DraftWish {
  text: string;
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

/** For how long leave is given. */
export type Extent = "once" | "session" | "always";

/** Something that could not be made of the settings: there everything is as it was. */
export interface Failure {
  table: string;
  message: string;
}

/** How far a forgetting has come. */
export type ForgettingState = "removing" | "wiping" | "done";

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
export interface GatewayShape {
  host: string;
  pid: number;
  version: string;
  url: string | null;
  started_at: string;
  beat_at: string;
  /** It has not been heard from for a minute. */
  is_silent: boolean;
  places: PlacesShape;
  platforms: HealthShape[];
}

/** What a screen keeps of one session, and the feed keeps true. */
export interface GlimpseShape {
  /** Events up to this one are in it. */
  revision: number;
  /** The number of its last line. */
  last_seq: number;
  /** The session, its latest turns and deliveries, and the state of each. */
  states: Record<string, string>;
}

/** Somebody whom the owner let in, beside those whom the settings name. */
export interface GrantShape {
  sender: string;
  name: string | null;
  granted_at: string;
}

/** Somebody to be let in without a code. */
export interface GrantWish {
  /** Who is meant: the platform, a colon, and the id there. */
  sender: string;
  name?: string | null;
}

/** How a platform is in one gateway, since when, and what went wrong last. */
export interface HealthShape {
  name: string;
  state: PlatformState;
  since: string;
  error: string | null;
}

/** How much an export takes. */
export type HistoryExtent = "all" | "profile" | "project" | "person";

/** A line that says what was looked for; it opens at `session_id` and `seq`. */
export interface HitView {
  session_id: string;
  seq: number;
  key: number;
  role: Role;
  at: string;
  title: string | null;
  snippet: SnippetView;
  rank: number;
}

/** Where unasked messages go on a platform. */
export interface HomeShape {
  platform: string;
  place: PlaceShape;
}

/** Something that was not imported, and why. */
export interface ImportProblem {
  line: number;
  what: string;
  session: string | null;
}

/** What came of an import. */
export interface ImportShape {
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
  problems: ImportProblem[];
}

/** What shall be different about a job; what is left out stays. */
export interface JobEdit {
  prompt?: string | null;
  /** As `every day 9:00`, `every 30m`, `at 2027-01-31 18:00` or a cron line. */
  schedule?: string | null;
  timezone?: string | null;
  target?: string | null;
  mirror?: Mirror | null;
  /** Empty: the first words of its prompt. */
  name?: string | null;
}

/** A prompt that is asked by itself. */
export interface JobShape {
  id: number;
  profile: string;
  name: string;
  prompt: string;
  schedule: string;
  timezone: string;
  target: string;
  mirror: Mirror;
  /** Null: the owner of the installation. */
  maker: string | null;
  made_at: string;
  paused_at: string | null;
  /** When it is asked next; null: never again. */
  next_at: string | null;
  /** Null: there was none yet. */
  last_run: RunShape | null;
}

/** A job to be made. */
export interface JobWish {
  prompt: string;
  /** As `every day 9:00`, `every 30m`, `at 2027-01-31 18:00` or a cron line. */
  schedule: string;
  timezone?: string;
  /** Where the answer goes, as `telegram:42`; several with commas between them. */
  target?: string;
  mirror?: Mirror;
  /** Empty: the first words of its prompt. */
  name?: string;
}

/** Two senders who are one person. */
export interface JoinWish {
  /** Who is meant: the platform, a colon, and the id there. */
  one: string;
  /** Who is meant: the platform, a colon, and the id there. */
  other: string;
}

export type JsonValue = unknown;

/** What sort of place an address is. */
export type Kind = "dm" | "group" | "channel" | "thread";

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
export interface LinkShape {
  /** Give it to whoever is to log in; it is shown once. Null: the same request was answered before. */
  link: string | null;
  expires_at: string;
}

/** A sender, and the person that they are. */
export interface ListedSender {
  sender: string;
  name: string | null;
  /** Null: they have not spoken yet. */
  first_seen_at: string | null;
  /** Null: they are linked with nobody. */
  person: number | null;
}

/** What there is to do, and how large the database is, in bytes. */
export interface LoadShape {
  queued: number;
  running: number;
  owed: number;
  size: number;
}

/** A browser that is logged in. */
export interface LoginShape {
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
export interface LoginsEnded {
  ended: number;
}

/** How far somebody has read. */
export interface MarkView {
  seq: number;
}

/** How far somebody has read. */
export interface MarkWish {
  /** The last line that was read; null: all of them. */
  seq?: number | null;
}

/** What went wrong, where a transcript shows that something did. */
export type MarkerKind = "interrupted" | "failed" | "stopped" | "expired" | "spending" | "forgotten";

/** A trace of something that went wrong, and why. */
export interface MarkerPart {
  type?: "marker";
  kind: MarkerKind;
  text: string;
}

/** Who asks, and what they may do. */
export interface Me {
  account: AccountShape;
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
export interface MessagePage {
  items: MessageView[];
  /** Give this as `before` for what is earlier, if any is. */
  before: number | null;
  /** Give this as `after` for what is later. */
  after: number | null;
}

/** One line of a transcript. */
export interface MessageView {
  key: number;
  /** Where it was written; of a branch's shared lines its base. */
  session_id: string;
  /** Its place; null while it waits for its turn. */
  seq: number | null;
  role: Role;
  parts: (TextPart | AttachmentPart | ToolCallPart | ToolResultPart | ReasoningPart | MarkerPart)[];
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
export type Mirror = "none" | "target";

/** What is wrong with one field of a request. */
export interface Mistake {
  /** Where it stands, as `body.title`. */
  field: string;
  message: string;
}

/** A model that a conversation may use. */
export interface ModelShape {
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

/** The model that a session was told to use. */
export interface ModelView {
  model: string;
  provider: string | null;
  base_url: string | null;
}

/** The model that a session shall use; its address is for an owner to choose. */
export interface ModelWish {
  model: string;
  provider?: string | null;
  base_url?: string | null;
}

/** A member who may use the web app from now on. */
export interface NewAccount {
  name: string;
  /** The profile they belong to; null: all of them. */
  profile?: string | null;
}

/** Words for a conversation. */
export interface NewMessage {
  text?: string;
  /** The tickets of what was uploaded. */
  attachments?: string[];
  /** Whether the agent is asked. */
  speech?: Speech;
  /** What becomes of it while a turn runs; null: as everywhere. */
  busy_mode?: BusyMode | null;
}

/** A project to be made. */
export interface NewProject {
  name: string;
  color?: ProjectColor;
  profile?: string | null;
}

/** The first words of a conversation; without them there is none. */
export interface NewSession {
  text?: string;
  /** The tickets of what was uploaded. */
  attachments?: string[];
  profile?: string | null;
  title?: string | null;
  project?: number | null;
  model?: ModelWish | null;
}

/** A token that was just made. */
export interface NewToken {
  key: number;
  name: string;
  scopes: TokenScope[];
  made_at: string;
  used_at: string | null;
  expires_at: string | null;
  /** Keep it: it is shown once. Null: the same request was answered before. */
  token: string | null;
}

/** What a line reads from now on. */
export interface NewWords {
  text: string;
}

/** Who began a session. */
export type OriginInput = "person" | "job" | "import";

/** What came of something that arrived. */
export type Outcome = "queued" | "joined" | "observed" | "changed" | "early" | "ignored" | "answered" | "command" | "refused";

/** What became of one of several sessions. */
export interface OutcomeView {
  id: string;
  /** Why nothing was done with this one. */
  error: string | null;
}

export interface PageAccountShape {
  items: AccountShape[];
  /** Give this as `after` for the next page; null: there is none. */
  next?: string | null;
}

export interface PageAllowanceView {
  items: AllowanceView[];
  /** Give this as `after` for the next page; null: there is none. */
  next?: string | null;
}

export interface PageAuditShape {
  items: AuditShape[];
  /** Give this as `after` for the next page; null: there is none. */
  next?: string | null;
}

export interface PageCapShape {
  items: CapShape[];
  /** Give this as `after` for the next page; null: there is none. */
  next?: string | null;
}

export interface PageCertificateView {
  items: CertificateView[];
  /** Give this as `after` for the next page; null: there is none. */
  next?: string | null;
}

export interface PageCommandShape {
  items: CommandShape[];
  /** Give this as `after` for the next page; null: there is none. */
  next?: string | null;
}

export interface PageCountedProjectView {
  items: CountedProjectView[];
  /** Give this as `after` for the next page; null: there is none. */
  next?: string | null;
}

export interface PageDeadShape {
  items: DeadShape[];
  /** Give this as `after` for the next page; null: there is none. */
  next?: string | null;
}

export interface PageDeliveryShape {
  items: DeliveryShape[];
  /** Give this as `after` for the next page; null: there is none. */
  next?: string | null;
}

export interface PageGrantShape {
  items: GrantShape[];
  /** Give this as `after` for the next page; null: there is none. */
  next?: string | null;
}

export interface PageHomeShape {
  items: HomeShape[];
  /** Give this as `after` for the next page; null: there is none. */
  next?: string | null;
}

export interface PageJobShape {
  items: JobShape[];
  /** Give this as `after` for the next page; null: there is none. */
  next?: string | null;
}

export interface PageListedSender {
  items: ListedSender[];
  /** Give this as `after` for the next page; null: there is none. */
  next?: string | null;
}

export interface PageLoginShape {
  items: LoginShape[];
  /** Give this as `after` for the next page; null: there is none. */
  next?: string | null;
}

export interface PageMessageView {
  items: MessageView[];
  /** Give this as `after` for the next page; null: there is none. */
  next?: string | null;
}

export interface PageModelShape {
  items: ModelShape[];
  /** Give this as `after` for the next page; null: there is none. */
  next?: string | null;
}

export interface PagePasskeyShape {
  items: PasskeyShape[];
  /** Give this as `after` for the next page; null: there is none. */
  next?: string | null;
}

export interface PagePersonShape {
  items: PersonShape[];
  /** Give this as `after` for the next page; null: there is none. */
  next?: string | null;
}

export interface PageProbeShape {
  items: ProbeShape[];
  /** Give this as `after` for the next page; null: there is none. */
  next?: string | null;
}

export interface PageProfileShape {
  items: ProfileShape[];
  /** Give this as `after` for the next page; null: there is none. */
  next?: string | null;
}

export interface PageQueuedView {
  items: QueuedView[];
  /** Give this as `after` for the next page; null: there is none. */
  next?: string | null;
}

export interface PageRevisionView {
  items: RevisionView[];
  /** Give this as `after` for the next page; null: there is none. */
  next?: string | null;
}

export interface PageRunShape {
  items: RunShape[];
  /** Give this as `after` for the next page; null: there is none. */
  next?: string | null;
}

export interface PageSessionRowView {
  items: SessionRowView[];
  /** Give this as `after` for the next page; null: there is none. */
  next?: string | null;
}

export interface PageShareShape {
  items: ShareShape[];
  /** Give this as `after` for the next page; null: there is none. */
  next?: string | null;
}

export interface PageTokenShape {
  items: TokenShape[];
  /** Give this as `after` for the next page; null: there is none. */
  next?: string | null;
}

export interface PageTurnView {
  items: TurnView[];
  /** Give this as `after` for the next page; null: there is none. */
  next?: string | null;
}

export interface PageUsageShape {
  items: UsageShape[];
  /** Give this as `after` for the next page; null: there is none. */
  next?: string | null;
}

export interface PageWaitingShape {
  items: WaitingShape[];
  /** Give this as `after` for the next page; null: there is none. */
  next?: string | null;
}

/** The code that somebody was shown who wants to be let in. */
export interface PairingApproval {
  code: string;
  platform?: string | null;
}

/** What came of taking a sender out of their person. */
export interface PartingShape {
  /** False: they were linked with nobody. */
  parted: boolean;
  /** The sessions that end, as both spoke in them. */
  ended: string[];
}

/** What a browser made of it. */
export interface PasskeyAnswer {
  challenge: string;
  /** What `navigator.credentials` gave, as its `toJSON()` writes it. */
  credential: Record<string, unknown>;
}

/** A passkey that a browser made. */
export interface PasskeyMade {
  challenge: string;
  /** What `navigator.credentials` gave, as its `toJSON()` writes it. */
  credential: Record<string, unknown>;
  name: string;
}

/** What a browser needs to make a passkey, or to sign with one. */
export interface PasskeyQuestion {
  /** Send it back with the answer. */
  challenge: string;
  /** For `navigator.credentials`, binary values in base64url. */
  options: Record<string, unknown>;
}

/** A passkey on a device of somebody. */
export interface PasskeyShape {
  key: number;
  name: string;
  made_at: string;
  used_at: string | null;
}

/** A new password. */
export interface PasswordChange {
  /** At least ten characters, and none of those that everybody guesses. */
  new: string;
  /** The one until now, if there is one. */
  old?: string | null;
}

/** Who wants to log in, and how they prove it. */
export interface PasswordLogin {
  name: string;
  password: string;
}

/** A day or a month by the clock of the caps' time zone. */
export interface PeriodShape {
  name: string;
  begins_at: string;
  ends_at: string;
}

/** Another name for a person. */
export interface PersonRenaming {
  name: string;
}

/** Somebody who speaks through several senders. */
export interface PersonShape {
  key: number;
  name: string | null;
  made_at: string;
  senders: SenderShape[];
  /** Its `ETag`: whoever changes it sends it back as `If-Match`, in quotes. */
  revision: string;
}

/** A chat on a platform, or a thread of one. */
export interface PlaceShape {
  platform: string;
  kind: Kind;
  chat: string;
  /** Which of our accounts there; empty: the only. */
  account?: string;
  thread?: string | null;
  /** What the chat is called. */
  name?: string | null;
  topic?: string | null;
}

/** How many turns a gateway may run at a time, and how many it runs. */
export interface PlacesShape {
  total: number;
  taken: number;
  /** Taken by agents that have said nothing for five minutes. */
  silent: number;
}

/** What would go if something were forgotten now. */
export interface PlanView {
  sessions: string[];
  shared: string[];
  branches: string[];
  messages: number;
  attachments: number;
  senders: number;
}

/** A platform of the gateway that answers. */
export interface PlatformShape {
  name: string;
  can: CapabilitiesShape;
  /** Null: it has yet to be begun. */
  health: HealthShape | null;
  /** Where unprompted messages go; null: nowhere yet. */
  home: PlaceShape | null;
}

/** Whether a platform can be reached. */
export type PlatformState = "connecting" | "up" | "down";

/** All gateways and platforms. */
export interface PlatformsShape {
  /** Of the gateway that answers. */
  platforms: PlatformShape[];
  /** All that serve this database. */
  gateways: GatewayShape[];
  load: LoadShape;
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

/** What was called, and what came of it. */
export interface ProbeShape {
  name: string;
  /** Who answered, or what went wrong. */
  told: string;
  is_well: boolean;
}

/** What is to be called. */
export interface ProbeWish {
  /** A model, mcp, agent or platform, and its name in the settings; none: all. */
  names?: string[];
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
  errors?: Mistake[] | null;
}

/** What conversations are kept apart by. */
export interface ProfileShape {
  name: string;
  is_main: boolean;
}

/** What of a project shall be different. */
export interface ProjectChange {
  name?: string | null;
  color?: ProjectColor | null;
}

/** The colours that a project may have; screens know them in light and dark. */
export type ProjectColor = "gray" | "red" | "orange" | "yellow" | "green" | "teal" | "blue" | "purple" | "pink";

/** Who made a project. */
export type ProjectKind = "own" | "scheduled";

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
  parts: (TextPart | AttachmentPart | ToolCallPart | ToolResultPart | ReasoningPart | MarkerPart)[];
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

/** How far somebody is let in; a later one in this list may all that an earlier one may. */
export type Rank = "stranger" | "member" | "admin" | "owner";

/** The model's thoughts. */
export interface ReasoningPart {
  type?: "reasoning";
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
  parts: (TextPart | AttachmentPart | ToolCallPart | ToolResultPart | ReasoningPart | MarkerPart)[];
  replaced_at: string;
}

/** Who speaks in a line of the transcript. */
export type Role = "user" | "assistant" | "tool" | "system";

/** How often somebody spoke and got an answer. */
export interface RoundsView {
  rounds: number;
}

/** One time that a job was due. */
export interface RunShape {
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

/** Somebody as a platform knows them. */
export interface SenderShape {
  sender: string;
  name: string | null;
  /** Null: they have not spoken yet. */
  first_seen_at: string | null;
}

/** One sender. */
export interface SenderWish {
  /** Who is meant: the platform, a colon, and the id there. */
  sender: string;
}

/** What came of words that were said. */
export interface SentView {
  outcome: Outcome;
  session_id: string | null;
  /** The turn that answers them, if one does. */
  turn_id: number | null;
  /** They had been said before, and nothing new was done. */
  is_repeated: boolean;
}

/** What shall be different; what is not named stays, and null takes a choice back. */
export interface SessionChange {
  title?: string | null;
  is_pinned?: boolean | null;
  is_archived?: boolean | null;
  /** Null takes it out of its project. */
  project?: number | null;
  model?: ModelWish | null;
  busy_mode?: BusyMode | null;
  personality?: string | null;
  tools?: string[] | null;
  workspace?: string | null;
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

/** One stretch of conversation. */
export interface SessionView {
  id: string;
  /** Grows with every event of the session. */
  revision: number;
  profile: string;
  platform: string;
  kind: Kind;
  origin: ThreadlineCoreSessionOrigin;
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

/** One setting; of a secret it is told only that there is one. */
export interface SettingShape {
  key: string;
  kind: SettingKind;
  /** A secret reads ••••••, unless it says where it stands. */
  value: JsonValue;
  default: JsonValue;
  origin: ThreadlineConfigCatalogueOrigin;
  /** The file, variable or option from which it came. */
  place: string | null;
  /** An option, a variable or the project's file sets it, and wins over the file. */
  overridden: boolean;
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
export interface SettingsChange {
  set?: Record<string, JsonValue>;
  unset?: string[];
}

/** All settings by which this server goes. */
export interface SettingsShape {
  /** Where changes are written. */
  file: string;
  items: SettingShape[];
}

/** A page that is shared, or was. */
export interface ShareShape {
  id: string;
  /** Where it is read, without a login. */
  path: string;
  session: string;
  title: string;
  size: number;
  made_at: string;
  revoked_at: string | null;
}

/** A conversation to be shared. */
export interface ShareWish {
  session: string;
}

/** Which part of a profile's sessions a list is about. */
export type Shelf = "sidebar" | "archived" | "scheduled" | "all";

/** What is true at one place of the feed. */
export interface SnapshotShape {
  /** Follow the feed from here on. */
  cursor: string;
  /** Those that were asked for and may be seen, by their ids. */
  sessions: Record<string, GlimpseShape>;
}

/** A stretch of a text, and where in it the words stand that were looked for. */
export interface SnippetView {
  text: string;
  /** From and to, counted in characters. */
  ranges: [number, number][];
}

/** Who said something. */
export interface SpeakerView {
  role: Role;
  /** Null: nobody knows, or it was the agent. */
  name: string | null;
}

/** For whom words are meant. */
export type Speech = "ask" | "answer";

/** What a session has spent, all together. */
export interface SpentShape {
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
export interface StartShape {
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
  type?: "text";
  text: string;
}

/** What kind of place a setting came from. */
export type ThreadlineConfigCatalogueOrigin = "default" | "file" | "variable" | "option";

/** Who began a session. */
export type ThreadlineCoreSessionOrigin = "person" | "job" | "import";

/** When a schedule comes next. */
export interface TimesShape {
  /** None: never again. */
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

/** What somebody may do who shows a token; a login of the web app may do all of it. */
export type TokenScope = "read" | "write" | "admin";

/** A token with which programs use the API. */
export interface TokenShape {
  key: number;
  name: string;
  scopes: TokenScope[];
  made_at: string;
  used_at: string | null;
  expires_at: string | null;
}

/** A token that somebody wants. */
export interface TokenWish {
  name: string;
  /** What it may do, and nothing else. */
  scopes: TokenScope[];
  /** For how long it is worth something; null: always. */
  days?: number | null;
}

/** The agent asks for a tool. */
export interface ToolCallPart {
  type?: "tool_call";
  id: string;
  name: string;
  /** JSON, as the model wrote it. */
  arguments: string;
}

/** What a tool answered. */
export interface ToolResultPart {
  type?: "tool_result";
  call_id: string;
  text: string;
  is_error: boolean;
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
  answer: string | null;
  error: string | null;
  answered_by: number | null;
}

/** How much is taken back. */
export interface UndoWish {
  turns?: number;
}

/** What was taken back. */
export interface UndoneView {
  from_seq: number;
  messages: number;
  turns: number;
  /** What the person had written, so that it can be offered. */
  texts: string[];
}

/** What a platform counts when it limits the length of a text. */
export type Unit = "characters" | "utf16" | "bytes";

/** A file that is kept for a day, and for as long as a message uses it. */
export interface UploadShape {
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
export interface UsageShape {
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
export interface WaitingShape {
  sender: string;
  name: string | null;
  asked_at: string;
  expires_at: string;
}

/** What a command does while a turn runs. */
export type WhileRunning = "run" | "wait" | "stop";

/** A working copy that a session has for itself. */
export interface WorktreeView {
  path: string;
  branch: string;
  repository: string;
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
      shelf?: Shelf | undefined;
      platform?: string | null | undefined;
      kind?: Kind | null | undefined;
      origin?: OriginInput | null | undefined;
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
    body: NewSession;
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
    body: SessionChange;
    answer: SessionView;
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
    answer: PlanView;
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
    body: MarkWish;
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
    answer: MessagePage;
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
    body: NewMessage;
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
  /** Edit a line of a person, in a branch that starts before it. */
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
    body: NewWords;
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
    body: BranchWish;
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
    body: BatchWish;
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
    answer: CutList;
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
    body: UndoWish;
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
    body: CompressWish;
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
    answer: CutView;
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
    body: NewWords;
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
    answer: PageCommandShape;
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
    body: CommandWish;
    answer: CommandAnswer;
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
    answer: ContextShape;
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
    body: Decision;
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
    answer: PageAllowanceView;
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
    answer: AllowanceView;
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
    answer: DraftList;
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
    body: DraftWish;
    answer: DraftList;
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
    body: NewProject;
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
    body: ProjectChange;
    answer: ProjectView;
  };
  /** Log in with a name and password. */
  log_in_by_password: {
    path: never;
    query: never;
    header: never;
    body: PasswordLogin;
    answer: Me;
  };
  /** Get what a browser needs to sign with a passkey. */
  ask_passkey: {
    path: never;
    query: never;
    header: never;
    body: never;
    answer: PasskeyQuestion;
  };
  /** Log in with a passkey that signed the question. The answer sets a cookie. */
  log_in_by_passkey: {
    path: never;
    query: never;
    header: never;
    body: PasskeyAnswer;
    answer: Me;
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
    answer: Me;
  };
  /** Set your password. All other browsers are logged out. */
  set_password: {
    path: never;
    query: never;
    header: never;
    body: PasswordChange;
    answer: undefined;
  };
  /** List your passkeys. */
  list_passkeys: {
    path: never;
    query: never;
    header: never;
    body: never;
    answer: PagePasskeyShape;
  };
  /** Add a passkey to log in with. A question is good for one answer. */
  add_passkey: {
    path: never;
    query: never;
    header: never;
    body: PasskeyMade;
    answer: PasskeyShape;
  };
  /** Get what a browser needs to create a passkey. */
  ask_new_passkey: {
    path: never;
    query: never;
    header: never;
    body: never;
    answer: PasskeyQuestion;
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
    answer: PageLoginShape;
  };
  /** Log out all your other browsers. */
  end_other_logins: {
    path: never;
    query: never;
    header: never;
    body: never;
    answer: LoginsEnded;
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
    answer: PageTokenShape;
  };
  /** Create a token for a program. Only the first answer shows it. */
  make_token: {
    path: never;
    query: never;
    header: {
      /** Any text of your own. For a day the same request with the same key is answered as the first one was, and makes nothing new. */
      "Idempotency-Key"?: string | null | undefined;
    };
    body: TokenWish;
    answer: NewToken;
  };
  /** Revoke a token. */
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
    answer: PageAccountShape;
  };
  /** Add a member, who may use the web app. A login link or a password lets them in. */
  make_account: {
    path: never;
    query: never;
    header: {
      /** Any text of your own. For a day the same request with the same key is answered as the first one was, and makes nothing new. */
      "Idempotency-Key"?: string | null | undefined;
    };
    body: NewAccount;
    answer: AccountShape;
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
    answer: AccountShape;
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
    body: AccountRenaming;
    answer: AccountShape;
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
    answer: LinkShape;
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
    answer: LoginsEnded;
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
    answer: PageAuditShape;
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
    answer: SnapshotShape;
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
    answer: PageProfileShape;
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
    answer: PagePersonShape;
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
    answer: PageListedSender;
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
    body: SenderWish;
    answer: CertificateView;
  };
  /** Tell what would be removed with somebody. Nothing is changed. */
  plan_forgetting_person: {
    path: never;
    query: never;
    header: never;
    body: SenderWish;
    answer: PlanView;
  };
  /** Make two senders one person. Their messages stay where they are. */
  join_senders: {
    path: never;
    query: never;
    header: never;
    body: JoinWish;
    answer: PersonShape;
  };
  /** Make a sender a person of their own again. */
  part_sender: {
    path: never;
    query: never;
    header: never;
    body: SenderWish;
    answer: PartingShape;
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
    answer: PersonShape;
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
    body: PersonRenaming;
    answer: PersonShape;
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
    answer: PageWaitingShape;
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
    body: PairingApproval;
    answer: GrantShape;
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
    answer: PageGrantShape;
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
    body: GrantWish;
    answer: GrantShape;
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
    answer: PlatformsShape;
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
    answer: PageHomeShape;
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
    answer: PageDeadShape;
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
    answer: PageDeliveryShape;
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
    answer: PageDeliveryShape;
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
    answer: DeliveryShape;
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
    answer: PageJobShape;
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
    body: JobWish;
    answer: JobShape;
  };
  /** Tell when a schedule would run next, without creating a job. */
  list_times: {
    path: never;
    query: {
      /** As `every day 9:00`, `every 30m`, `at 2027-01-31 18:00` or a cron line. */
      schedule: string;
      timezone?: string | undefined;
    };
    header: never;
    body: never;
    answer: TimesShape;
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
    answer: JobShape;
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
    body: JobEdit;
    answer: JobShape;
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
    answer: JobShape;
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
    answer: JobShape;
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
    answer: StartShape;
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
    answer: PageRunShape;
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
    answer: PageUsageShape;
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
    answer: PageCapShape;
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
    answer: PageModelShape;
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
    answer: UploadShape;
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
    };
    header: never;
    body: Blob;
    answer: ImportShape;
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
    answer: PageShareShape;
  };
  /** Share a conversation as it is now, as a page that anyone with the link can read. */
  make_share: {
    path: never;
    query: never;
    header: {
      /** Any text of your own. For a day the same request with the same key is answered as the first one was, and makes nothing new. */
      "Idempotency-Key"?: string | null | undefined;
    };
    body: ShareWish;
    answer: ShareShape;
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
    answer: SettingsShape;
  };
  /** Write settings to the file and apply them at once; if one is not valid, none is changed. */
  change_settings: {
    path: never;
    query: never;
    header: {
      /** The `ETag` that was seen, or `*` for whatever there is now. */
      "If-Match"?: string | null | undefined;
    };
    body: SettingsChange;
    answer: ChangedSettings;
  };
  /** Reload the file, after somebody edited it by hand, and apply it. */
  reload_settings: {
    path: never;
    query: never;
    header: never;
    body: never;
    answer: ChangedSettings;
  };
  /** Call what the settings name, and tell what responds: a model is asked for one word. */
  probe_settings: {
    path: never;
    query: never;
    header: never;
    body: ProbeWish;
    answer: PageProbeShape;
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
  plan_forgetting: ["GET", "/api/sessions/{id}/forgetting", "data"],
  end_session: ["POST", "/api/sessions/{id}/end", "data"],
  read_streaming: ["GET", "/api/sessions/{id}/streaming", "data"],
  mark_read: ["PUT", "/api/sessions/{id}/mark", "data"],
  mark_unread: ["DELETE", "/api/sessions/{id}/mark", "data"],
  count_rounds: ["GET", "/api/sessions/{id}/rounds", "data"],
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
