/**
 * The effective configuration: file, defaults and environment, merged and checked once at boot. Durations are seconds,
 * as in the file. It holds the values of secrets, and no other part of the platform reads them from the environment;
 * `SECRET_FIELDS` in `mask.ts` lists their keys. "Addition" marks fields that the specification does not have.
 */
export interface Config {
  environment: 'development' | 'staging' | 'production'
  /** The version that the API description and the metrics show (`APP_VERSION`). */
  version: string
  oidc: OidcConfig
  admin: { default_root_email: string }
  services: {
    iac: IacServiceConfig
    notifications: OptionalServiceConfig
    mapping: OptionalServiceConfig
    authz: AuthzServiceConfig
  }
  orchestration: OrchestrationConfig
  llm: LlmConfig
  paths: PathsConfig
  database: { platform_database_url_env: string; url: string }
  redis: RedisConfig
  telemetry: TelemetryConfig
  http: HttpConfig
  storage: StorageConfig
  git: GitConfig
  /** Addition: settings of the worker process. */
  worker: WorkerConfig
  /** Addition: the record of who did what. */
  audit: AuditConfig
}

export interface PathsConfig {
  upload_folder: string
  /** Addition: folder of the git directories of clones, for the worker alone; empty means one of its own. */
  git_folder: string
  session_plan_filename: string
  backend_override_filename: string
}

export interface TelemetryConfig {
  /**
   * Base URL of the collector of spans, which is the prompt registry too. Addition: when it is empty there is neither,
   * and the built-in prompts are used.
   */
  collector_url: string
  /** Addition: the bearer token for both; empty when they need none. */
  api_key: string
  otel_attribute_count_limit: number
  otel_console_exporter: boolean
}

export interface HttpConfig {
  cors_origins: string[]
  /** Addition: URL of the page of a session with `{session_id}` in it. Pull requests link to it when it is set. */
  session_url: string
  /** Addition: addresses and ranges of the proxies whose `X-Forwarded-For` is believed. */
  trusted_proxies: string[]
  /** Addition: whether the core serves the console at `/console/`. */
  console: boolean
  /** Addition: requests that the first screen of the console offers. */
  console_examples: ConsoleExample[]
}

/** A request to start from, as `POST /api/v1/iac/<mode>` takes it. */
export interface ConsoleExample {
  mode: 'generate' | 'drift' | 'import'
  text: string
  repo_uri: string
  iac_path: string
  scope_id: string
  engine_providers: string
  is_partial: boolean
  preview: boolean
}

export interface OidcConfig {
  /** Without trailing slashes. When it is empty, authentication is disabled. */
  issuer_url: string
  client_id: string
  audience: string
  /** The scope with its placeholder replaced. */
  scope: string
  clock_skew_seconds: number
}

export interface ServiceConfig {
  /** Base URL without trailing slash; may be empty for an optional sidecar. */
  endpoint: string
  token_env: string
  /** The bearer token, which is the value of the variable that `token_env` names. */
  token: string
  timeout: number
}
export interface OptionalServiceConfig extends ServiceConfig {
  enabled: boolean
}
export interface AuthzServiceConfig extends OptionalServiceConfig {
  /** Addition: whether rounds are accepted only with the consent of the sidecar. */
  enforce: boolean
}
export interface IacServiceConfig extends ServiceConfig {
  job_poll_interval: number
  job_timeout: number
}

/** The severity of a rule, or `off`. */
export type RuleGrade = 'off' | 'info' | 'warning' | 'error' | 'critical'
/** The operator's grades by rule id. A rule that is not among them keeps its own severity. */
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
  /** Addition: path of the operator's file of grades; empty when there is none. */
  rules_file: string
  /** The grades of that file, with patterns replaced by the ids that they stand for. */
  rules: RuleGrades
}

export interface LlmConfig {
  /** `<provider>/<model-id>`, or a `model_name` of `model_list`. */
  model: string
  small_model: string
  /** The model that searches the web. When it is empty, the model of the chain that searches does so itself. */
  web_search_model: string
  temperature: number
  max_output_tokens: number
  timeout: number
  model_list: ModelListEntry[]
  /** Addition: most tokens of a model call with its answer; 0 takes the number from the built-in table of models. */
  context_tokens: number
  /** Addition: most tokens that all rounds of a session may use together; 0 means no limit. */
  max_session_tokens: number
  /** Addition: folder in which the worker records the model traffic of each round; empty means no recording. */
  record_folder: string
  /** Addition: prices by model pattern, which count before those of the built-in table. */
  prices: ModelPrices
  /** What the credential chain of AWS may use; set when a model of `bedrock` is configured. */
  aws?: AwsVariables
  /** Where the tools of Google keep a person's credentials; set when a model of `vertex_ai` is configured. */
  google_credentials_file?: string
  /** The values of all variables of providers and of `os.environ/` references that are set, by their names. */
  credentials: Record<string, string>
}
/** US dollars per million tokens. */
export interface ModelPrice {
  input: number
  output: number
  /** The price of input that is read from the provider's cache; default that of `input`. */
  cached_input?: number
  /** The price of input that is written to that cache; default that of `input`. */
  cache_write?: number
}
/** Prices by `<provider>/<model-id>`, in which `*` stands for any text. */
export type ModelPrices = Readonly<Record<string, ModelPrice>>

/** One entry of the model list. Further keys of `litellm_params` are kept as they are. */
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
export type StateCredentials = 'static' | 'scoped'

export interface StorageConfig {
  provider: StorageProvider
  bucket: string
  /** The bucket of engine state; when it is empty, repositories declare their own backend. */
  engine_state_bucket: string
  engine_state_filename: string
  endpoint_url: string
  public_endpoint_url: string
  region: string
  access_key: string
  secret_key: string
  /** Name and key of the account, with the provider STORAGE_ACCOUNT only. */
  account_name: string
  account_key: string
  connect_timeout: number
  read_timeout: number
  max_attempts: number
  presign_expiry_seconds: number
  /** Addition: whether a job gets the keys of the store, or temporary ones for the state of its project alone. */
  state_credentials: StateCredentials
  /** Addition: ARN of the role that temporary keys are made for; a store that has no roles needs none. */
  state_role_arn: string
  /** Addition: address of the token service; when it is empty, that of the region or of the store. */
  sts_endpoint_url: string
  /** What the credential chain of AWS may use; set for S3 without keys. */
  aws?: AwsVariables
}

/** The values of the variables that lead to credentials of AWS; those that are not set are empty. */
export interface AwsVariables {
  access_key: string
  secret_key: string
  session_token: string
  web_identity_token_file: string
  role_arn: string
  role_session_name: string
  /** When it is empty, the profile `default` is used if it exists. */
  profile: string
  /** Paths of the shared files, by default in the home folder; empty when there is no home folder. */
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
  /** The host of `base_url`, or else the public host of the provider. */
  host: string
  user: string
  token: string
  author_name: string
  author_email: string
  /** Addition: `https://<host>[:port]` of a self-hosted server; empty for the public host. */
  base_url: string
  /** Addition: base URL of the REST interface of a self-hosted server; empty for its usual place at `host`. */
  api_url: string
  /** Addition: path of a PEM file with further certificate authorities for the git server; empty when there is none. */
  ca_file: string
  /** Addition: hosts, as `host` or `host:port`, whose names may resolve to addresses that are not public. */
  allow_private_hosts: string[]
  /** Addition: most MiB that a clone may take on the disk, its git directory and its files together. */
  max_clone_mib: number
  /** Addition: most files and folders that a clone may have. */
  max_clone_files: number
}

export interface WorkerConfig {
  /** Most rounds that one worker process runs at the same time. */
  concurrency: number
  /** How often an interrupted round is taken up again before it fails. */
  max_restarts: number
  /** Encrypts saved plans in the object store. When it is empty, they are on the disk of the worker only. */
  pin_key: string
}

export interface AuditConfig {
  /** How many days entries are kept; 0 keeps them for ever. */
  retention_days: number
}
