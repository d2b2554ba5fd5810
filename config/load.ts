import { type ReadFile, readDocument } from './document.ts'
import { ConfigError } from './errors.ts'
import { readRulesFile } from './rules-file.ts'
import { readDatabase } from './sections/database.ts'
import { readEnvironment } from './sections/environment.ts'
import { readGit } from './sections/git.ts'
import { readHttp } from './sections/http.ts'
import { readLlm } from './sections/llm.ts'
import { readAdmin, readOidc } from './sections/oidc.ts'
import { readOrchestration } from './sections/orchestration.ts'
import { readPaths } from './sections/paths.ts'
import { readRedis } from './sections/redis.ts'
import { missingTokens, readServices } from './sections/services.ts'
import { readStorage } from './sections/storage.ts'
import { readTelemetry } from './sections/telemetry.ts'
import { readAudit, readWorker } from './sections/worker.ts'
import { createSource, type Environment, type Source } from './source.ts'
import type { Config } from './types.ts'

export { ConfigError } from './errors.ts'

/**
 * Loads the effective configuration: the values of the file, or else the defaults; the secrets in the variables that
 * the file names; and the operator's grades of rules from the rules file.
 * Errors: `ConfigError` with all wrong fields and missing credentials together. The bearer tokens of `services.*` are
 * checked only when everything else is right.
 */
export async function loadConfig(env: Environment, readFile: ReadFile): Promise<Config> {
  const source = createSource(await readDocument(env, readFile), env)
  const config = await readSections(source, readFile)
  if (source.problems.length > 0) throw new ConfigError(source.problems)
  const tokens = missingTokens(config.services)
  if (tokens !== null) throw new ConfigError([tokens])
  return config
}

async function readSections(source: Source, readFile: ReadFile): Promise<Config> {
  const orchestration = readOrchestration(source)
  return {
    environment: readEnvironment(source),
    version: source.variable('APP_VERSION') || '0.0.0-dev',
    oidc: readOidc(source),
    admin: readAdmin(source),
    services: readServices(source),
    orchestration: { ...orchestration, rules: await readRulesFile(source, orchestration.rules_file, readFile) },
    llm: readLlm(source),
    paths: readPaths(source),
    database: readDatabase(source),
    redis: readRedis(source),
    telemetry: readTelemetry(source),
    http: readHttp(source),
    storage: readStorage(source),
    git: readGit(source),
    worker: readWorker(source),
    audit: readAudit(source),
  }
}
