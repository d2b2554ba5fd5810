import { appendFile, mkdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readText } from '../../../../dev/files.ts'
import { checkPolicy } from '../../../../eval/iac-eval.ts'
import { hashOf } from '../../../../eval/scenario/scenario.ts'
import type { JsonObject } from '../../../../src/base/json.ts'
import { awsEnvironment, createEngine, type Engine } from '../aws/engine.ts'
import type { Reference } from './cases.ts'

/** What is said of a reference without the platform. */
export interface Verdict {
  name: string
  /** Of all that decides about it. */
  hash: string
  /** Why the engine makes no plan of it here; null where it does. */
  fault: string | null
  /** The rules of its own policy that its plan does not meet. */
  failures: string[]
}

export interface OwnPlans {
  /** The verdict, kept from an earlier run if nothing has changed. */
  of(reference: Reference): Promise<Verdict>
}

interface Options {
  folder: string
  /** Address of the emulator; null where there is none. */
  emulator_url: string | null
  /** Programs and providers, as the part tells them. */
  counterpart: string
  /** The file of the verdicts, a line of JSON each. */
  kept: string
  signal: AbortSignal
}

/** An engine beside the platform that plans references, all in one root, so that providers are installed once. */
export async function startOwnPlans({ folder, emulator_url, counterpart, kept, signal }: Options): Promise<OwnPlans> {
  await mkdir(dirname(kept), { recursive: true })
  const lines = ((await readText(kept)) ?? '').split('\n').filter((line) => line.endsWith('}'))
  const verdicts = new Map(lines.map((line) => JSON.parse(line) as Verdict).map((each) => [each.hash, each]))
  const engine = await createEngine(join(folder, 'root'), awsEnvironment(emulator_url ?? NOWHERE))
  await engine.write('provider-aws.tf', await readFile(PROVIDER_FILE, 'utf8'))
  await engine.must('init', '-input=false')
  return {
    of: async (reference) => {
      const { scenario, code } = reference
      const { repository, supplement, rego = '' } = scenario
      const hash = hashOf([repository, supplement, rego, code, counterpart, emulator_url === null])
      const known = verdicts.get(hash)
      if (known) return known
      const planned = await planOf(engine, reference)
      const verdict: Verdict = {
        ...{ name: scenario.name, hash },
        ...(typeof planned === 'string'
          ? { fault: planned, failures: [] }
          : { fault: null, failures: await checkPolicy(rego, planned, signal) }),
      }
      await appendFile(kept, `${JSON.stringify(verdict)}\n`)
      return verdict
    },
  }
}

const PROVIDER_FILE = new URL('../../../../eval/providers/aws.tf', import.meta.url)
/** Nothing listens there, so that a look-up fails at once. */
const NOWHERE = 'http://127.0.0.1:9'

/** @returns the plan's JSON, or why there is none */
async function planOf(engine: Engine, { scenario, code, path }: Reference): Promise<JsonObject | string> {
  const { repository, supplement = {} } = scenario
  for (const name of [path, 'supplement', '.terraform/modules'])
    await rm(join(engine.folder, name), { recursive: true, force: true })
  for (const [name, text] of Object.entries('files' in repository ? repository.files : {}))
    await engine.write(name, text)
  for (const [name, text] of Object.entries(supplement)) {
    await mkdir(dirname(join(engine.folder, name)), { recursive: true })
    await engine.write(name, Buffer.from(text, 'base64'))
  }
  await engine.write(path, code)
  const plan = () => engine.run('plan', '-input=false', '-lock=false', '-out=own.plan')
  let ended = await plan()
  if (ended.code !== 0 && /terraform init/.test(ended.stderr)) {
    const init = await engine.run('init', '-input=false')
    if (init.code !== 0) return shortened(init.stderr)
    ended = await plan()
  }
  if (ended.code !== 0) return shortened(ended.stderr)
  return JSON.parse(await engine.must('show', '-json', 'own.plan')) as JsonObject
}

const shortened = (stderr: string) =>
  stderr
    .replaceAll(/[\s│╷╵]+/g, ' ')
    .trim()
    .slice(0, 600)
