import { readFile } from 'node:fs/promises'
import type { Cloud } from '../src/base/vocabulary.ts'
import { hasOpa } from './iac-eval.ts'
import type { ProviderName, Scenario } from './scenario/scenario.ts'
import type { EngineRoots } from './stack.ts'
import type { Skipped } from './summary.ts'

interface SkipOptions {
  scripted: boolean
  env: Record<string, string | undefined>
  roots: EngineRoots
  signal: AbortSignal
}

/** Selects the runnable scenarios, and gives the reason for the others. Each provider is downloaded once. */
export async function selectRunnable(scenarios: readonly Scenario[], options: SkipOptions) {
  const runnable: Scenario[] = []
  const skipped: Skipped[] = []
  const probe = createProbe(options)
  for (const scenario of scenarios) {
    const reason = await reasonOf(scenario, options, probe)
    if (reason === null) runnable.push(scenario)
    else skipped.push({ scenario: scenario.name, reason })
  }
  return { runnable, skipped }
}

async function reasonOf(scenario: Scenario, { scripted, env }: SkipOptions, probe: Probe): Promise<string | null> {
  if (scripted && !scenario.recorded) return 'the scripted model has no recording for it'
  if (!scripted && scenario.recorded === 'only') return 'it is about the scripted model'
  if (scenario.rego !== undefined && !(await hasOpa())) return 'its policy needs opa on PATH'
  const missing = scenario.variables.filter((name) => !env[name]?.trim())
  if (missing.length > 0) return `needs ${missing.join(', ')}`
  const disturbing = scenario.unset_variables.filter((name) => env[name]?.trim())
  if (disturbing.length > 0) return `is about an account without ${disturbing.join(', ')}`
  // Without a mirror, seven lookups in a registry that may be unreachable would each take until their time limit.
  if (scripted && scenario.providers.length > 0 && !env.IAC_PROVIDER_MIRROR?.trim())
    return 'with the scripted model, providers come from the mirror that IAC_PROVIDER_MIRROR names'
  for (const provider of scenario.providers) {
    const fault = await probe(provider, scenario.cloud)
    if (fault !== null) return `the engine cannot fetch the provider of ${provider}`
  }
  return null
}

/** Returns the fault of an init with the provider; null if it works. */
type Probe = (provider: ProviderName, cloud: Cloud) => Promise<string | null>

function createProbe({ roots, signal }: SkipOptions): Probe {
  const faults = new Map<ProviderName, Promise<string | null>>()
  const probeOnce: Probe = async (provider, cloud) => {
    const text = await readFile(new URL(`./providers/${provider}.tf`, import.meta.url), 'utf8')
    return await roots.initFault({ 'main.tf': text }, cloud, AbortSignal.any([signal, AbortSignal.timeout(180_000)]))
  }
  return (provider, cloud) => {
    const probing = faults.get(provider) ?? probeOnce(provider, cloud)
    faults.set(provider, probing)
    return probing
  }
}
