import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { splitMarkdown } from '../../../../dev/prompt-lint/markdown.ts'
import type { ProviderSchema } from '../../../../dev/prompt-lint/schema.ts'
import type { SeedPrompt } from '../../../../src/prompts/parse-seed.ts'
import { completeExample, VALUES } from './complete.ts'
import { type Engine, type EngineFinding, initialise, validate } from './engine.ts'

export interface Example {
  /** Name of the prompt, and which of its examples it is, from 0. */
  name: string
  code: string
}

/** The examples in configuration language of the prompts whose names begin so. */
export function examplesOf(prompts: ReadonlyMap<string, Pick<SeedPrompt, 'body'>>, prefix: string): Example[] {
  return [...prompts]
    .filter(([name]) => name.startsWith(prefix))
    .flatMap(([name, { body }]) =>
      splitMarkdown(body)
        .examples.filter(({ language }) => language === 'hcl')
        .map(({ code }, index) => ({ name: `${name}.${index}`, code })),
    )
}

/** Provider blocks and requirements that make a root valid, by local name. */
export interface Provider {
  name: string
  source: string
  /** Any when absent. */
  version?: string
  /** Body of its provider block. */
  configuration: string
}

export interface Verdict {
  /** Faults of the examples, by name; those without a fault are left out. */
  faults: Map<string, string[]>
  /** Faults of the blocks that stand in for what examples refer to: references to these were not checked. */
  standIns: string[]
}

/** Stand-ins get what the provider misses in them so many times. */
const ROUNDS = 6

/**
 * Validates examples in one run of the engine: each is a module of its own. What it refers to without declaring it is
 * declared beside it.
 * @param folder for the root; its content is lost
 */
export async function validateExamples(
  engine: Engine,
  folder: string,
  { examples, schema, providers }: { examples: readonly Example[]; schema: ProviderSchema; providers: Provider[] },
): Promise<Verdict> {
  const extra = new Map<string, Map<string, string[]>>()
  await rm(folder, { recursive: true, force: true })
  for (let round = 1; ; round++) {
    await writeRoot(folder, { examples, schema, providers, extra })
    if (round === 1) await initialise(engine, folder)
    const findings = await validate(engine, folder)
    const inStandIns = findings.filter((finding) => isStandIn(finding) && finding.severity === 'error')
    if (round < ROUNDS && inStandIns.filter((finding) => learn(finding, extra)).length > 0) continue
    return {
      faults: byExample(
        examples,
        findings.filter((finding) => !isStandIn(finding)),
      ),
      standIns: inStandIns.map((finding) => `${fileOf(finding)}: ${textOf(finding)}`),
    }
  }
}

const fileOf = ({ range }: EngineFinding): string => range?.filename ?? ''
const isStandIn = (finding: EngineFinding) => fileOf(finding).endsWith('completion.tf')
const textOf = ({ severity, summary, detail, address, range }: EngineFinding) =>
  `${severity}, line ${range?.start.line ?? 0}${address ? `, ${address}` : ''}: ${summary}: ${detail.replaceAll(/\s+/g, ' ')}`

function byExample(examples: readonly Example[], findings: readonly EngineFinding[]): Map<string, string[]> {
  const names = new Map(examples.map(({ name }) => [moduleOf(name), name]))
  const faults = new Map<string, string[]>()
  for (const finding of findings) {
    const name = names.get(fileOf(finding).split('/')[0] ?? '') ?? 'root'
    faults.set(name, [...(faults.get(name) ?? []), textOf(finding)])
  }
  return faults
}

/** Messages of providers which say that one of several arguments is needed: of the older kind, then of the newer. */
const ONE_OF = /(?:one|all) of `([^`,]+)[^`]*` must be specified|of these attributes must be configured: \[(\w+)/

/** Adds what the provider says a stand-in misses. False when it says nothing of the kind, or nothing new. */
function learn({ summary, detail, address, range }: EngineFinding, extra: Map<string, Map<string, string[]>>): boolean {
  const block = address?.replace(/^module\.\w+\./, '')
  const example = range?.filename.split('/')[0] ?? ''
  const [, older, newer = ''] = ONE_OF.exec(`${summary} ${detail}`.replaceAll(/\s+/g, ' ')) ?? []
  const name = (older ?? newer).replaceAll(/\.\d+/g, '')
  if (block === undefined || name === '') return false
  const known = extra.get(example) ?? new Map<string, string[]>()
  const added = known.get(block) ?? []
  if (added.includes(name)) return false
  extra.set(example, known.set(block, [...added, name]))
  return true
}

const moduleOf = (name: string) => name.replaceAll(/[.-]/g, '_')

async function writeRoot(
  folder: string,
  {
    examples,
    schema,
    providers,
    extra,
  }: {
    examples: readonly Example[]
    schema: ProviderSchema
    providers: Provider[]
    extra: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>
  },
): Promise<void> {
  const requirements = providers
    .map(({ name, source, version = '>= 0' }) => `    ${name} = { source = "${source}", version = "${version}" }\n`)
    .join('')
  const terraform = `terraform {\n  required_providers {\n${requirements}  }\n}\n`
  const calls: string[] = []
  for (const { name, code } of examples) {
    const module = moduleOf(name)
    const completion = completeExample(code, schema, extra.get(module))
    await mkdir(join(folder, module), { recursive: true })
    await writeFile(join(folder, module, 'example.tf'), code)
    await writeFile(join(folder, module, 'completion.tf'), `${terraform}\n${completion.code}`)
    const given = completion.variables.map(
      (variable) => `  ${variable} = ${VALUES[variable.replace(/^local_/, '')] ?? 'var.unknown'}\n`,
    )
    calls.push(`module "${module}" {\n  source = "./${module}"\n${given.join('')}}\n`)
  }
  const blocks = providers.map(({ name, configuration }) => `provider "${name}" {\n${configuration}}\n`)
  await writeFile(join(folder, 'main.tf'), [terraform, ...blocks, 'variable "unknown" {}\n', ...calls].join('\n'))
}
