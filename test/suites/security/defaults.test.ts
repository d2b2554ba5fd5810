import { chmod, link, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createLogger } from '../../../src/base/log.ts'
import { type CoreProcess, startCoreProcess } from '../../helpers/core-process.ts'
import { startCoreSurroundings } from '../../helpers/core-surroundings.ts'
import { useFolder } from '../../helpers/folder.ts'
import { startLogging } from '../../helpers/logging-process.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { NAME, startReleases, zip } from '../../sidecars/iac/engine/release.ts'
import { fakeEngine, startTestService } from '../../sidecars/iac/service.ts'
import { attack } from './attack.ts'

const LISTENING = 'shipped defaults: who reaches the core'
const ENGINE = 'shipped defaults: the downloaded engine'

/** An address of this machine that is reachable from outside; undefined if there is none. */
const outerAddress = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address
const unless = outerAddress === undefined ? 'this machine has no address but loopback' : null

const surroundings = startOnce(startCoreSurroundings)
const engineFolder = useFolder()

/** Runs `ask` while a core runs at this address; blank means none is set. */
async function withCore<T>(
  options: { PLATFORM_HOST: string; PLATFORM_CONFIG?: string },
  ask: (core: CoreProcess, port: number) => Promise<T>,
): Promise<T> {
  const core = await startCoreProcess({ ...surroundings.env, ...options })
  try {
    return await ask(core, Number(new URL(core.ready.address).port))
  } finally {
    await core.stop()
  }
}

/** Tries to connect. Returns `open`, or the code of the error. */
const dial = (host: string, port: number): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 5_000 }, () => {
      socket.destroy()
      resolve('open')
    })
    socket.on('error', (error) => resolve('code' in error ? String(error.code) : error.message))
    socket.on('timeout', () => resolve('timeout'))
  })

const LOOPBACK_LINE = 'no identity provider is configured, so the core listens on loopback only'
const linesAbout = ({ messages }: CoreProcess) =>
  messages().filter((message) => String(message).startsWith(LOOPBACK_LINE))

attack(
  LISTENING,
  'a call from another machine, where every caller is the local developer',
  () =>
    withCore({ PLATFORM_HOST: '' }, async (core, port) => {
      expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
      const outcome = await dial(outerAddress ?? '', port)
      expect(outcome).toBe('ECONNREFUSED')
      expect(linesAbout(core)).toHaveLength(1)
      return `${outcome}: the core listens on ${core.ready.address}, and its log says so in one line`
    }),
  { unless },
)

test('an address that is named is listened on, and so is every address with an identity provider', async () => {
  const named = await withCore({ PLATFORM_HOST: '0.0.0.0' }, async (core) => [core.ready.address, linesAbout(core)])
  expect(named).toEqual([expect.stringMatching(/^http:\/\/0\.0\.0\.0:/), []])
  const config = join(surroundings.folder, 'oidc.yaml')
  const file = await readFile(surroundings.config, 'utf8')
  await writeFile(config, `${file}oidc: { issuer_url: "https://issuer.example.org", client_id: core }\n`)
  const signedIn = await withCore({ PLATFORM_HOST: '', PLATFORM_CONFIG: config }, async (core) => [
    core.ready.address,
    linesAbout(core),
  ])
  expect(signedIn).toEqual([expect.stringMatching(/^http:\/\/0\.0\.0\.0:/), []])
})

/** The sidecars with what each needs to start beside its token. */
const SIDECARS: Record<string, (folder: string) => Promise<Record<string, string>>> = {
  iac: async (folder) => ({
    IAC_BINARY: await fakeEngine(folder),
    IAC_DATA_DIR: join(folder, 'iac'),
    IAC_SANDBOX: 'none',
  }),
  authz: async (folder) => ({ PLATFORM_AUTHZ_ROLE_STORE: join(folder, 'roles.json') }),
  mapping: async () => ({}),
  notifications: async () => ({ CHAT_WEBHOOK_URL: 'https://chat.example/hook' }),
}

/** Starts a sidecar, and returns its address, the outcome of a call from outside, and its lines about the token. */
async function reachSidecar(name: string, env: Record<string, string>) {
  const process = startLogging(['sidecars/main.ts', name], { PLATFORM_PORT: '0', ...env })
  onTestFinished(() => void process.child.kill('SIGKILL'))
  const url = new URL(String((await process.said(`${name} service ready`)).url))
  const outcome = await dial(outerAddress ?? '127.0.0.1', Number(url.port))
  await process.stop()
  const told = process.lines.filter(({ message }) => String(message).includes('_TOKEN is blank'))
  return { host: url.hostname, outcome, told: told.map(({ level, message }) => `${level}: ${message}`) }
}

for (const [name, needs] of Object.entries(SIDECARS)) {
  const variable = `PLATFORM_${name.toUpperCase()}_TOKEN`
  attack(
    'shipped defaults: who reaches a sidecar',
    `a call of ${name} from another machine, when its token is blank`,
    async () => {
      const { host, outcome, told } = await reachSidecar(name, { ...(await needs(engineFolder.path)), [variable]: ' ' })
      expect([host, outcome]).toEqual(['127.0.0.1', 'ECONNREFUSED'])
      expect(told).toEqual([expect.stringMatching(/^info: .* on loopback only$/)])
      return `${outcome}: it listens on ${host}, and its log says so`
    },
    { unless },
  )

  test(`${name} listens on every address with a token, and with a warning where PLATFORM_HOST says so`, async () => {
    const env = await needs(engineFolder.path)
    expect(await reachSidecar(name, { ...env, [variable]: 'a token' })).toEqual({
      host: '0.0.0.0',
      outcome: 'open',
      told: [],
    })
    expect(await reachSidecar(name, { ...env, PLATFORM_HOST: '0.0.0.0' })).toEqual({
      host: '0.0.0.0',
      outcome: 'open',
      told: [expect.stringMatching(/^warn: .*PLATFORM_HOST.*every request from the network is accepted$/)],
    })
  })
}

const EVIL = '#!/bin/sh\necho evil\n'

/** Installs the engine, changes the files on the disk, starts again, and returns the result of the program. */
async function tamper(change: (binary: string, folder: string) => Promise<unknown>): Promise<string> {
  const folder = await mkdtemp(join(engineFolder.path, 'data-'))
  const releases = await startReleases()
  const told: string[] = []
  const log = createLogger({ write: (line) => told.push(JSON.parse(line).message) })
  try {
    const binary = await releases.download(folder)
    const genuine = await readFile(binary, 'utf8')
    await change(binary, folder)
    told.length = 0
    expect(await releases.download(folder, { log })).toBe(binary)
    expect(await readFile(binary, 'utf8')).toBe(genuine)
    return told.find((line) => line.includes('again')) ?? ''
  } finally {
    releases.close()
  }
}

const TAMPERINGS: [string, (binary: string, folder: string) => Promise<unknown>][] = [
  ['another program in the place of the engine', (binary) => writeFile(binary, EVIL)],
  [
    'another program and an archive that matches it',
    async (binary, folder) => {
      await writeFile(binary, EVIL)
      await writeFile(join(folder, NAME), zip({ tofu: EVIL }))
    },
  ],
  [
    'a link to a program that can be changed later',
    async (binary, folder) => {
      const elsewhere = join(folder, 'elsewhere')
      await writeFile(elsewhere, await readFile(binary))
      await chmod(elsewhere, 0o755)
      await rm(binary)
      await symlink(elsewhere, binary)
    },
  ],
  ['a second name of the program, to write through', (binary, folder) => link(binary, join(folder, 'second'))],
  ['a program that everybody may write', (binary) => chmod(binary, 0o777)],
]

for (const [title, change] of TAMPERINGS)
  attack(ENGINE, title, async () => {
    const line = await tamper(change)
    expect(line).not.toBe('')
    return line
  })

attack(
  'shipped defaults: the configuration of the engine',
  'a relative TF_CLI_CONFIG_FILE, which a repository can bring',
  async () => {
    const engine = await fakeEngine(engineFolder.path)
    const service = await startTestService({ IAC_BINARY: engine, TF_CLI_CONFIG_FILE: 'engine.tfrc' })
    try {
      const workspace_path = await service.workspace({
        'main.tf': '',
        'engine.tfrc': 'provider_installation { dev_overrides { "a/b" = "." } }',
        'command.sh': 'echo "read: $TF_CLI_CONFIG_FILE."',
      })
      const job = await service.run('/v1/init', { workspace_path, scope_id: 'scope-1', engine_provider: 'aws' })
      expect(JSON.stringify(job)).toContain('read: .')
      const [line = ''] = service.log.filter((text) => text.includes('TF_CLI_CONFIG_FILE'))
      return JSON.parse(line).message
    } finally {
      await service.close()
    }
  },
)
