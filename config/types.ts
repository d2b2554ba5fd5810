/**
 * The effective configuration: what remains after file, defaults and environment were merged and
 * checked once, at boot. Durations are seconds, as in the file. Secrets are resolved here and
 * nowhere else; `SECRET_FIELDS` in `mask.ts` lists them.
 */
export interface Config {
  environment: 'development' | 'staging' | 'production'
  /** Version string of the served API description (`APP_VERSION`). */
  version: string
  oidc: OidcConfig
  admin: { default_root_email: string }
  services: {
    iac: IacServiceConfig
    notifications: OptionalServiceConfig
    mapping: OptionalServiceConfig
    authz: OptionalServiceConfig
  }
  orchestration: OrchestrationConfig
  llm: LlmConfig
  paths: { upload_folder: string; session_plan_filename: string; backend_override_filename: string }
  database: { platform_database_url_env: string; url: string }
  redis: RedisConfig
  telemetry: TelemetryConfig
  http: HttpConfig
  storage: StorageConfig
  git: GitConfig
  /** Addition to the specification: the worker process. */
  worker: WorkerConfig
}

export interface TelemetryConfig {
  /** Collector of spans and prompt registry, paths are appended to it; empty (an addition): neither, the built-in prompts serve. */
  collector_url: string
  /** Addition: bearer token for both; empty: none. */
  api_key: string
  otel_attribute_count_limit: number
  otel_console_exporter: boolean
}

export interface HttpConfig {
  cors_origins: string[]
  /** Addition: page of a session with `{session_id}` in it, shown in pull requests; empty: the id alone is shown. */
  session_url: string
}

export interface OidcConfig {
  /** Empty: authentication is disabled. Trailing slashes removed. */
  issuer_url: string
  client_id: string
  audience: string
  /** Effective scope, placeholder expanded. */
  scope: string
  clock_skew_seconds: number
}

export interface ServiceConfig {
  /** Base URL without trailing slash; may be empty for an optional sidecar. */
  endpoint: string
  token_env: string
  /** Resolved bearer token. */
  token: string
  timeout: number
}
export interface OptionalServiceConfig extends ServiceConfig {
  enabled: boolean
}
export interface IacServiceConfig extends ServiceConfig {
  job_poll_interval: number
  job_timeout: number
}

/** Severity of a rule of the rule pack, or `off`. */
export type RuleGrade = 'off' | 'info' | 'warning' | 'error' | 'critical'
/** The operator's grades by rule id; a rule that is not named keeps its own. */
export type RuleGrades = Readonly<Record<string, RuleGrade>>

export interface OrchestrationConfig {
  enable_compliance_checker: boolean
  block_on_high_impact: boolean
  max_drift_reports: number
  max_validation_iteration: number
  max_import_iteration: number
  max_tool_agent_executions: number
  max_session_events_iteration: number
  drift_group_operations: number
  pull_request_readiness_seconds: number
  /** Addition: the operator's file of grades; empty means none. */
  rules_file: string
  /** What that file says, patterns resolved. */
  rules: RuleGrades
}

export interface LlmConfig {
  /** `<provider>/<model-id>`, or a `model_name` of `model_list`. */
  model: string
  small_model: string
  /** Optional; blank means the chain's own role model. */
  web_search_model: string
  temperature: number
  max_output_tokens: number
  timeout: number
  model_list: ModelListEntry[]
  /** Addition: tokens that a model call may hold, answer included; 0 means by the built-in table of models. */
  context_tokens: number
  /** Addition: tokens that all rounds of a session may use together; 0 means any number. */
  max_session_tokens: number
  /** Addition: where the worker keeps the model traffic of each round; empty: nowhere. */
  record_folder: string
  /** Addition: prices by model pattern, before those of the built-in table. */
  prices: ModelPrices
  /** Present for `bedrock` models: what the default credential chain may use. */
  aws?: AwsVariables
  /** Where the tools of `vertex_ai` keep credentials of a person; used when it exists. */
  google_credentials_file?: string
  /** Values of every provider variable and `os.environ/` reference that is set, by variable name. */
  credentials: Record<string, string>
}
/** US dollars per million tokens. */
export interface ModelPrice {
  input: number
  output: number
  /** Input read from the provider's cache; default is `input`. */
  cached_input?: number
  /** Input written to it; default is `input`. */
  cache_write?: number
}
/** By `<provider>/<model-id>`, `*` standing for any text. */
export type ModelPrices = Readonly<Record<string, ModelPrice>>

/** One router entry. Extra keys of `litellm_params` (api_base, api_key, …) are kept verbatim. */
export interface ModelListEntry {
  model_name: string
  litellm_params: { model: string; api_base?: string; api_key?: string } & Record<string, unknown>
}

export interface RedisConfig {
  redis_url_env: string
  url: string
  max_connections: number
  socket_connect_timeout: number
  socket_timeout: number
  pool_timeout: number
}

export type StorageProvider = 'BUNDLED' | 'S3' | 'STORAGE_ACCOUNT'
export interface StorageConfig {
  provider: StorageProvider
  bucket: string
  /** Trimmed; empty means that repositories declare their own backend. */
  engine_state_bucket: string
  engine_state_filename: string
  endpoint_url: string
  public_endpoint_url: string
  region: string
  access_key: string
  secret_key: string
  /** STORAGE_ACCOUNT only. */
  account_name: string
  account_key: string
  connect_timeout: number
  read_timeout: number
  max_attempts: number
  presign_expiry_seconds: number
  /** Present for S3 without keys: what its default credential chain may use. */
  aws?: AwsVariables
}

/** Variables that lead to credentials of S3; unset ones are empty. */
export interface AwsVariables {
  access_key: string
  secret_key: string
  session_token: string
  web_identity_token_file: string
  role_arn: string
  role_session_name: string
  /** Empty means `default`, which need not exist. */
  profile: string
  /** Paths; in the home folder unless named, empty without a home folder. */
  credentials_file: string
  config_file: string
  container_relative_uri: string
  container_full_uri: string
  container_token: string
  container_token_file: string
  metadata_disabled: boolean
  /** Base URL without trailing slash. */
  metadata_endpoint: string
}

export type GitProvider = 'GITHUB' | 'AZURE_DEVOPS' | 'GITLAB'
export interface GitConfig {
  provider: GitProvider
  /** Host of `base_url`, else the provider's public host. */
  host: string
  user: string
  token: string
  author_name: string
  author_email: string
  /** Addition: `https://<host>[:port]` of a self-hosted server; empty means the public host. */
  base_url: string
  /** Addition: REST base URL of a self-hosted server; empty means the usual place at `host`. */
  api_url: string
  /** Addition: PEM file with further certificate authorities for the git binary; may be empty. */
  ca_file: string
  /** Addition: hosts (`host` or `host:port`) that may resolve to non-public addresses. */
  allow_private_hosts: string[]
}

export interface WorkerConfig {
  /** Rounds that one worker process runs at the same time. */
  concurrency: number
  /** How often an interrupted round is taken up again before it fails. */
  max_restarts: number
  /** With which pinned plans are kept in the object store; empty keeps them on the worker's disk alone. */
  pin_key: string
}
