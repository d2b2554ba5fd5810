import { relative } from 'node:path'
import { buildConsole } from '../console/build/build.ts'
import { waitUnlessAborted } from '../src/base/time.ts'
import { FLAG, onInterrupt, parseOptions, runCommand, TEXT } from './command.ts'
import { addEngineForStack } from './engine/provide.ts'
import { createSampleStates, ROOTS_AT_START } from './sample-state/prepare.ts'
import { bodyOf, EXAMPLES, type ExampleName, uriOfSample } from './scripted-model/examples.ts'
import { CHOICE_HELP } from './stack/choices.ts'
import { dataFolder, type StackEngine } from './stack/data-folder.ts'
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

const started = performance.now()

/** Lists the addresses of the stack and requests to type. */
function welcome(stack: Stack, folder: string): string {
  const { url, model, engine, addresses } = stack
  const { git_host: host, cloudUrl, collector_url } = addresses
  const own = (address: string | null | undefined, more = '') =>
    address ? `${address.replace(/:[^:@/]+@/, ':***@')}${more && `   (${more})`}` : 'yours'
  const rows: [string, string][] = [
    ['console', `${url}/console/`],
    ['core', `${url}   (documentation: ${url}/api/docs)`],
    ['database', own(addresses.databaseUrl)],
    ['object store', own(addresses.objectStoreUrl)],
    ['cache', own(addresses.cacheUrl)],
    ['git host', own(host?.url, `certificate authority: ${relative('', host?.ca_file ?? '')}`)],
    ['model', model.scripted ? `${model.name}: plays recorded requests, no real model is asked` : model.name],
    ['cloud', cloudUrl ? `sample account 123456789012, answers inventories only   (${cloudUrl})` : 'yours'],
    ['collector', own(collector_url, 'spans, and the prompts')],
    ['engine', `${engine.name} ${engine.version}   (iac sidecar: ${addresses.iacUrl})`],
    ['sandbox', describeSandbox(engine)],
    ['data', relative('', folder) || folder],
  ]
  const data = folder === dataFolder() ? '' : ` --data ${folder}`
  return [
    '',
    `Platform: everything is ready after ${((performance.now() - started) / 1000).toFixed(1)} s.`,
    '',
    ...rows.map(([name, value]) => `  ${name.padEnd(14)}${value}`),
    ...(host ? ['', 'Sample repositories:', ...host.repositories.map((address) => `  ${address}`)] : []),
    '',
    'Try in another terminal:',
    `  npm run demo -- --mode all${data}     (npm run demo -- --help lists the modes)`,
    ...examples(stack),
    '',
    '  # apply, when a generate session has completed',
    `  curl -s ${url}/api/v1/iac/apply -H 'content-type: application/json' -d '{"session_id":"<session id>"}'`,
    '',
    'Ctrl-C stops everything.',
    '',
  ].join('\n')
}

/** Requests to type, each on the sample repository that it is recorded on. */
function examples(stack: Stack): string[] {
  const repositories = stack.addresses.git_host?.repositories
  if (!repositories) return curl(stack.url, 'generate', 'https://<host>/<owner>/<repository>.git')
  const playable = { generate: true, drift: stack.sample_state, import: stack.sample_state && stack.sample_account }
  return (Object.keys(EXAMPLES) as ExampleName[]).flatMap((name) => {
    const { route, sample } = EXAMPLES[name]
    const uri = uriOfSample(repositories, sample)
    return uri && name !== 'apply' && playable[route] ? curl(stack.url, name, uri) : []
  })
}

const curl = (url: string, name: ExampleName, repoUri: string): string[] => [
  '',
  `  # ${name}`,
  `  curl -s ${url}/api/v1/iac/${EXAMPLES[name].route} -H 'content-type: application/json' -d ` +
    `'${JSON.stringify(bodyOf(EXAMPLES[name], repoUri))}'`,
]

/** Makes the states of the samples, so that drift and import find something from the first request on. */
async function prepareSamples(stack: Stack, folder: string, signal: AbortSignal): Promise<void> {
  if (!stack.sample_state || !stack.git_host) return
  const states = await createSampleStates(folder, stack.git_host.repositories)
  for (const root of ROOTS_AT_START) await states.prepare(root, signal)
}

function describeSandbox({ sandbox, network }: StackEngine): string {
  if (sandbox === 'none') return 'none: code of repositories can read this machine (install bubblewrap and passt)'
  return network === 'isolated' ? `${sandbox}, with a network of its own` : `${sandbox}, on the network of this machine`
}

async function run(args: string[]): Promise<number | null> {
  const { values } = parseOptions(args, { embedded: FLAG, data: TEXT })
  if (values.help) return null
  const cancel = new AbortController()
  onInterrupt((signal) => {
    console.log(`\n${signal}: stopping, once more to stop at once`)
    cancel.abort()
  })
  try {
    return await start(dataFolder(values.data), values.embedded ?? false, cancel.signal)
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') return 130
    throw error
  }
}

async function start(folder: string, embedded: boolean, signal: AbortSignal) {
  await addEngineForStack(signal)
  const complain = (what: string) => (error: unknown) =>
    console.error(`${what}: ${error instanceof Error ? error.message : error}`)
  const stack = await startStack({
    folder,
    env: process.env,
    embedded,
    onLine: (name, line) => {
      const text = formatLogLine(name, line)
      if (text !== null) console.log(text)
    },
    signal,
    // The core reads the built files at its start, long after this; a failed build affects the console only.
    before_core: buildConsole().catch(complain('The console could not be built')),
  })
  await prepareSamples(stack, folder, signal).catch((error: unknown) => {
    if (!signal.aborted) complain('The samples could not be prepared')(error)
  })
  if (!signal.aborted) console.log(welcome(stack, folder))
  const failure = await waitUnlessAborted(stack.failed, signal).catch(() => null)
  if (failure !== null) {
    console.error(`\n${failure}\n\nEverything else has been stopped.`)
    return 1
  }
  await stack.stop()
  console.log('stopped')
  return 0
}

process.exitCode = await runCommand('npm start', HELP, run)
