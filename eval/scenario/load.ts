import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { readScenario, type Scenario, ScenarioError } from './scenario.ts'

const FOLDER = fileURLToPath(new URL('../scenarios/', import.meta.url))
const PROVIDERS = fileURLToPath(new URL('../providers/', import.meta.url))

/**
 * Loads all scenarios of a folder (`<group>/<name>.yaml`), by default the shipped ones, ordered by name. Errors:
 * `ScenarioError`, with every fault of every file.
 */
export async function loadScenarios(folder = FOLDER): Promise<Scenario[]> {
  const scenarios: Scenario[] = []
  const faults: string[] = []
  for (const group of (await readdir(folder)).sort())
    for (const file of (await readdir(join(folder, group))).sort()) {
      const name = `${group}/${file.replace(/\.yaml$/, '')}`
      try {
        if (!file.endsWith('.yaml')) throw new ScenarioError(`${name}: is no YAML file`)
        scenarios.push(await addProviders(readScenario(name, parse(await readFile(join(folder, group, file), 'utf8')))))
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error)
        faults.push(text.startsWith(name) ? text : `${name}: ${text}`)
      }
    }
  if (faults.length > 0) throw new ScenarioError(faults.join('\n'))
  return scenarios
}

/** Adds the blocks of the providers that a scenario needs, unless its files have their own. */
export async function addProviders(scenario: Scenario): Promise<Scenario> {
  const { repository, providers } = scenario
  if (!('files' in repository)) return scenario
  const files = { ...repository.files }
  for (const provider of providers) {
    const name = join(scenario.iac_path ?? '', `provider-${provider}.tf`)
    files[name] ??= await readFile(join(PROVIDERS, `${provider}.tf`), 'utf8')
  }
  return { ...scenario, repository: { files } }
}

/** Returns a hash that changes whenever anything in a scenario changes. */
export const hashOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)
