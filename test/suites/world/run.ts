import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Command, type Installed, type Part, type Tools, Unavailable } from './part.ts'
import { PARTS } from './parts.ts'
import { hashPart, readPasses, writePass } from './passed.ts'
import { runCommand } from './run-command.ts'
import { closingLine, drawTable, type Outcome } from './table.ts'

const HELP = `Runs the platform against its real counterparts: engines, providers, APIs, stores, collectors and clients.

Usage: npm run world [-- options]

  --only <part>  this part alone; may be repeated
  --ci           the parts of continuous integration, in their short form
  --changed      leaves out parts that passed with the files that they cover as they are now
  --minutes <n>  builds nothing and begins no part after that time, and names the parts that are left out
  --list         the parts, one in a line
  --help         this text

Each part installs or builds pinned versions into a cache folder (WORLD_CACHE, default: platform-world in the user's
cache folder). A part that cannot be had on this machine is skipped by name with the reason. A part that passes is
recorded in docs/world.passed.json, with a hash of the files that test/suites/world/covers.ts names. The exit code is 1
when a check failed, 2 when a part is unknown.`

const defaultCache = () => join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'platform-world')

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', multiple: true, default: [] },
      ci: { type: 'boolean', default: false },
      changed: { type: 'boolean', default: false },
      minutes: { type: 'string' },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return print(HELP)
  const unknown = values.only.filter((name) => !Object.hasOwn(PARTS, name))
  if (unknown.length > 0) {
    console.error(`No such part: ${unknown.join(', ')}. There are: ${Object.keys(PARTS).join(', ')}.`)
    return 2
  }
  const minutes = values.minutes === undefined ? Infinity : Number(values.minutes)
  if (!(minutes >= 0)) {
    console.error(`--minutes must be a number, 0 or more: ${values.minutes}`)
    return 2
  }
  const all = await Promise.all(Object.values(PARTS).map(async (load) => (await load()).part))
  if (values.list)
    return print(all.map(({ name, about, ci }) => `${name.padEnd(14)}${ci ? 'ci  ' : '    '}${about}`).join('\n'))
  const chosen = all.filter(({ name, ci }) => (values.only.length > 0 ? values.only.includes(name) : ci || !values.ci))
  const outcomes: Outcome[] = []
  const until = performance.now() + minutes * 60_000
  const minutesLeft = () => Math.max(0, until - performance.now()) / 60_000
  for (const part of chosen) {
    const hash = await hashPart(part.name)
    const pass = (await readPasses())[part.name]
    // The short form does not stand in for the whole one.
    const isKnown = pass?.hash === hash && (values.ci || pass.form === 'whole')
    if (values.changed && isKnown) outcomes.push(leaveOut(part, `unchanged since it passed on ${pass.date}`))
    else if (minutesLeft() === 0) outcomes.push(leaveOut(part, `the ${minutes} minutes were over`))
    else {
      const outcome = await runPart(part, values.ci, minutesLeft)
      outcomes.push(outcome)
      const { version, checks, failed, skipped } = outcome
      const date = new Date().toISOString().slice(0, 10)
      if (failed === 0 && skipped === undefined)
        await writePass(part.name, { date, form: values.ci ? 'short' : 'whole', version, checks, hash })
    }
  }
  console.log(`\n${drawTable(outcomes)}\n\n${closingLine(outcomes)}`)
  return outcomes.some(({ failed }) => failed > 0) ? 1 : 0
}

const print = (text: string) => {
  console.log(text)
  return 0
}

const leaveOut = ({ name }: Part, skipped: string): Outcome => ({
  part: name,
  version: '',
  checks: 0,
  failed: 0,
  seconds: 0,
  skipped,
})

async function runPart(part: Part, ci: boolean, minutesLeft: () => number): Promise<Outcome> {
  const from = performance.now()
  const seconds = () => Math.round((performance.now() - from) / 1_000)
  const outcome = { part: part.name, version: '', checks: 0, failed: 0 }
  const cache = process.env.WORLD_CACHE || defaultCache()
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(join(tmpdir(), `world-${part.name}-`))
  const say = (text: string) => console.log(`[${part.name}] ${text}`)
  const tools: Tools = { cache, folder, ci, minutesLeft, say }
  let installed: Installed | null = null
  try {
    say(part.about)
    installed = await part.install(tools)
    outcome.version = installed.version
    say(installed.version)
    for (const command of installed.commands ?? [ownChecks(part.name)]) {
      const env = { ...process.env, ...(ci && { WORLD_CI: 'true' }), ...installed.env, ...command.env }
      const { checks, failed } = await runCommand(command, folder, env)
      outcome.checks += checks
      outcome.failed += failed
    }
    return { ...outcome, seconds: seconds() }
  } catch (error) {
    if (error instanceof Unavailable) return { ...outcome, seconds: seconds(), skipped: error.message }
    console.error(error)
    return { ...outcome, checks: outcome.checks + 1, failed: outcome.failed + 1, seconds: seconds() }
  } finally {
    await installed?.stop?.()
    await rm(folder, { recursive: true, force: true })
  }
}

const ownChecks = (name: string): Command => ({
  title: name,
  kind: 'vitest',
  args: ['--project', 'world'],
  env: { WORLD_PART: name },
})

process.exitCode = await main(process.argv.slice(2))
