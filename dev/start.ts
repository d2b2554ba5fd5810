import { relative } from 'node:path'
import { parseArgs } from 'node:util'
import { buildConsole } from '../console/build/build.ts'
import { addEngineForStack } from './engine/provide.ts'
import { createSampleStates } from './sample-state/prepare.ts'
import { ROOTS_AT_START } from './sample-state/samples.ts'
import { EXAMPLES, type Example, type ExampleName } from './scripted-model/examples.ts'
import { CHOICE_HELP } from './stack/choices.ts'
import { dataFolder, type StackEngine } from './stack/data-folder.ts'
import { onInterrupt } from './stack/interrupts.ts'
import { formatLogLine } from './stack/log-lines.ts'
import { type Stack, startStack } from './stack/start-stack.ts'

const HELP = `Starts the whole platform on this machine: stores, git host, model, iac sidecar, worker, core.

Usage: npm start [-- options]

  --embedded     use embedded services only, whatever variables are set
  --data <dir>   folder of all data (default .platform)
  --help

Needs git. The engine is tofu or terraform on PATH, or the one that IAC_BINARY names; where none is, a pinned
release of OpenTofu is fetched, which IAC_DOWNLOAD=false forbids. PLATFORM_PORT sets the core's port (default
8000, or the next free one).

${CHOICE_HELP}

Ctrl-C stops everything; data stays in the folder.`

const colours = process.stdout.isTTY && !process.env.NO_COLOR
const started = performance.now()

/** What to open and what to type. */
function welcome(stack: Stack, folder: string): string {
  const { addresses } = stack
  const rows: [string, string][] = [
    ['console', `${stack.url}/console/`],
    ['core', `${stack.url}   (documentation: ${stack.url}/api/docs)`],
    ['database', addresses.databaseUrl ? addresses.databaseUrl.replace(/:[^:@/]+@/, ':***@') : 'yours'],
    ['object store', addresses.objectStoreUrl ?? 'yours'],
    ['cache', addresses.cacheUrl ? addresses.cacheUrl.replace(/:[^:@/]+@/, ':***@') : 'yours'],
    [
      'git host',
      addresses.git_host
        ? `${addresses.git_host.url}   (certificate authority: ${relative('', addresses.git_host.ca_file)})`
        : 'yours',
    ],
    [
      'model',
      stack.model.scripted ? `${stack.model.name}: plays recorded requests, no real model is asked` : stack.model.name,
    ],
    [
      'cloud',
      addresses.cloudUrl ? `sample account 123456789012, answers inventories only   (${addresses.cloudUrl})` : 'yours',
    ],
    ['collector', addresses.collector_url ? `${addresses.collector_url}   (spans, and the prompts)` : 'yours'],
    ['engine', `${stack.engine.name} ${stack.engine.version}   (iac sidecar: ${addresses.iacUrl})`],
    ['sandbox', describeSandbox(stack.engine)],
    ['data', relative('', folder) || folder],
  ]
  return [
    '',
    `Platform: everything is ready after ${((performance.now() - started) / 1000).toFixed(1)} s.`,
    '',
    ...rows.map(([name, value]) => `  ${name.padEnd(14)}${value}`),
    ...(addresses.git_host
      ? ['', 'Sample repositories:', ...addresses.git_host.repositories.map((url) => `  ${url}`)]
      : []),
    '',
    'Try in another terminal:',
    `  npm run demo -- --mode all${folder === dataFolder() ? '' : ` --data ${folder}`}     (npm run demo -- ` +
      '--help lists the modes)',
    ...examples(stack),
    '',
    '  # apply, when a generate session has completed',
    `  curl -s ${stack.url}/api/v1/iac/apply -H 'content-type: application/json' -d '{"session_id":"<session id>"}'`,
    '',
    'Ctrl-C stops everything.',
    '',
  ].join('\n')
}

/** Requests to type, each on the sample repository that it is recorded on. */
function examples(stack: Stack): string[] {
  const names: ExampleName[] = [
    'generate',
    'partial-drift',
    'full-drift',
    'partial-import',
    'full-import',
    'drift-preview',
    'import-preview',
    'question',
    'declined',
    'blocked',
    'exhausted',
  ]
  const repositories = stack.addresses.git_host?.repositories
  if (!repositories) return curl(stack.url, 'generate', 'https://<host>/<owner>/<repository>.git')
  const past = { generate: true, drift: stack.sample_state, import: stack.sample_state && stack.sample_account }
  return names.flatMap((name) => {
    if (!past[EXAMPLES[name].route]) return []
    const repoUri = repositories.find((address) => address.endsWith(`/${EXAMPLES[name].sample}.git`))
    return repoUri ? curl(stack.url, name, repoUri) : []
  })
}

function curl(url: string, name: ExampleName, repoUri: string): string[] {
  const { route, request, iac_path, is_partial, preview }: Example = EXAMPLES[name]
  const body = {
    q: request,
    repo_uri: repoUri,
    scope_id: '123456789012',
    engine_providers: 'aws',
    ...(iac_path !== null && { iac_path }),
    ...(route !== 'generate' && { is_partial }),
    ...(preview && { preview }),
  }
  return [
    '',
    `  # ${name}`,
    `  curl -s ${url}/api/v1/iac/${route} -H 'content-type: application/json' -d '${JSON.stringify(body)}'`,
  ]
}

/** Gives the samples their past once, so that drift and import find something from the first request on. */
async function prepareSamples(stack: Stack, folder: string, signal: AbortSignal): Promise<void> {
  if (!stack.sample_state || !stack.git_host) return
  const states = await createSampleStates(folder, stack.git_host.repositories)
  for (const root of ROOTS_AT_START) await states.prepare(root, signal)
}

function describeSandbox({ sandbox, network }: StackEngine): string {
  if (sandbox === 'none') return 'none: code of repositories can read this machine (install bubblewrap and passt)'
  return network === 'isolated' ? `${sandbox}, with a network of its own` : `${sandbox}, on the network of this machine`
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { embedded: { type: 'boolean' }, data: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  })
  if (values.help) {
    console.log(HELP)
    return 0
  }
  const folder = dataFolder(values.data)
  const cancel = new AbortController()
  const interrupted = new Promise<void>((resolve) => {
    onInterrupt((signal) => {
      console.log(`\n${signal}: stopping, once more to stop at once`)
      cancel.abort()
      resolve()
    })
  })
  const onLine = (name: string, line: string) => {
    const text = formatLogLine(name, line, colours)
    if (text !== null) console.log(text)
  }
  await addEngineForStack(cancel.signal)
  // The core reads the built files when it starts, long after this is done; a build that fails costs the console alone.
  const built = buildConsole().catch((error: unknown) =>
    console.error(`The console could not be built: ${error instanceof Error ? error.message : error}`),
  )
  const stack = await startStack({
    folder,
    env: process.env,
    embedded: values.embedded,
    onLine: onLine,
    signal: cancel.signal,
    before_core: built,
  })
  await prepareSamples(stack, folder, cancel.signal).catch((error: unknown) => {
    if (!cancel.signal.aborted)
      console.error(`The samples could not be prepared: ${error instanceof Error ? error.message : error}`)
  })
  if (!cancel.signal.aborted) console.log(welcome(stack, folder))
  const failure = await Promise.race([stack.failed, interrupted.then(() => null)])
  if (failure !== null) {
    console.error(`\n${failure}\n\nEverything else has been stopped.`)
    return 1
  }
  await stack.stop()
  console.log('stopped')
  return 0
}

try {
  process.exitCode = await main()
} catch (error) {
  const aborted = error instanceof Error && error.name === 'AbortError'
  if (!aborted) console.error(error instanceof Error ? error.message : error)
  process.exitCode = aborted ? 130 : 1
}
