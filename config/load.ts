import { ConfigError, type ReadFile, readDocument } from './document.ts'
import { type ReadRuleIds, readRulesFile } from './rules-file.ts'
import { readDatabase, readRedis, readTelemetry } from './sections/connections.ts'
import { readGit } from './sections/git.ts'
import { readHttp } from './sections/http.ts'
import { type IsPriced, readLlm } from './sections/llm.ts'
import { readAccess, readAdmin, readOidc } from './sections/oidc.ts'
import {
  readAudit,
  readEnvironment,
  readOrchestration,
  readPaths,
  readRetention,
  readWorker,
} from './sections/processes.ts'
import { missingTokens, readServices } from './sections/services.ts'
import { readStorage } from './sections/storage.ts'
import { createSource, type Environment, type Source } from './source.ts'
import { comesFromFile, readVariableFiles, type VariableFiles } from './variable-files.ts'

export { ConfigError } from './document.ts'

/**
 * Loads the effective configuration from the file, the defaults, the environment and the rules file. Throws
 * `ConfigError` with all invalid fields and missing credentials together. The bearer tokens of `services.*` are checked
 * only when everything else is valid.
 * @param readRuleIds returns the ids that a rules file may name; without it, none
 * @param isPriced decides whether a limit of dollars can be kept; without it, every model has a price
 */
export async function loadConfig(
  env: Environment,
  readFile: ReadFile,
  readRuleIds: ReadRuleIds = async () => [],
  isPriced: IsPriced = () => true,
): Promise<Config> {
  const document = await readDocument(env, readFile)
  let files: VariableFiles = { values: new Map(), problems: [] }
  let source = createSource(document, env)
  let config = await readSections(source, readFile, readRuleIds, isPriced)
  // Which variables are read depends on the document, and on the values of others.
  for (let known = new Set<string>(); ; ) {
    // `AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE` is a variable of its own, with rules of its own.
    const { asked } = source
    const wanted = [...asked].filter(
      (name) => comesFromFile(env, name) && !asked.has(`${name}_FILE`) && !known.has(name),
    )
    if (wanted.length === 0) break
    known = new Set([...known, ...wanted])
    files = await readVariableFiles(env, known, readFile)
    source = createSource(document, env, files.values)
    config = await readSections(source, readFile, readRuleIds, isPriced)
  }
  const problems = [...files.problems, ...source.problems]
  if (problems.length > 0) throw new ConfigError(problems)
  const tokens = missingTokens(config.services)
  if (tokens !== null) throw new ConfigError([tokens])
  return config
}

/**
 * The effective configuration, read and checked once at boot. Durations are in seconds. It holds the values of secrets,
 * which no other part of the platform reads from the environment; `SECRET_FIELDS` in `mask.ts` lists their keys.
 */
export type Config = Awaited<ReturnType<typeof readSections>>
export type OrchestrationConfig = Config['orchestration']

async function readSections(source: Source, readFile: ReadFile, readRuleIds: ReadRuleIds, isPriced: IsPriced) {
  const orchestration = readOrchestration(source)
  const oidc = readOidc(source)
  const rules = await readRulesFile(source, orchestration.rules_file, readFile, readRuleIds)
  return {
    environment: readEnvironment(source),
    /** The version that the API description and the metrics show (`APP_VERSION`). */
    version: source.variable('APP_VERSION') || '0.0.0-dev',
    oidc,
    admin: readAdmin(source, oidc),
    access: readAccess(source),
    services: readServices(source),
    orchestration: { ...orchestration, rules },
    llm: readLlm(source, isPriced),
    paths: readPaths(source),
    database: readDatabase(source),
    redis: readRedis(source),
    telemetry: readTelemetry(source),
    http: readHttp(source),
    storage: readStorage(source),
    git: readGit(source),
    worker: readWorker(source),
    retention: readRetention(source),
    audit: readAudit(source),
  }
}
