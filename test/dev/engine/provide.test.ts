import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { NoEngine, provideEngine } from '../../../dev/engine/provide.ts'
import { OPENTOFU, RELEASES, targetOf } from '../../../dev/engine/release.ts'
import { listen } from '../../../dev/server.ts'
import { sum, zip } from '../../sidecars/iac/engine/release.ts'
import {
  createKey,
  LIST,
  nameOf,
  programOf,
  type ReleaseServer,
  type SigningKey,
  startReleaseServer,
} from './releases.ts'

const run = promisify(execFile)
const ARCHIVE = nameOf('linux_amd64')
const FOLDER = `opentofu-${OPENTOFU}-linux_amd64`

let key: SigningKey
let releases: ReleaseServer
let home: string
let cache: string
beforeAll(async () => {
  key = await createKey()
})
beforeEach(async () => {
  releases = await startReleaseServer(key)
  home = await mkdtemp(join(tmpdir(), 'engine-test-'))
  cache = join(home, '.cache', 'platform-engine')
})
afterEach(async () => {
  await releases.close()
  await rm(home, { recursive: true, force: true })
})

interface Machine {
  env?: Record<string, string>
  platform?: NodeJS.Platform
  architecture?: NodeJS.Architecture
  stallMs?: number
  isTTY?: boolean
}

/** Describes a machine without an engine, and records its output. */
function machine({ env, platform = 'linux', architecture = 'x64', stallMs = 5_000, isTTY = false }: Machine = {}) {
  const written: string[] = []
  const output = { isTTY, write: (text: string | Uint8Array) => written.push(String(text)) > 0 }
  const provide = () =>
    provideEngine({
      env: { HOME: home, PATH: join(home, 'bin'), IAC_DOWNLOAD_URL: releases.url, ...env },
      output,
      platform,
      architecture,
      publicKey: key.publicKey,
      stallMs,
    })
  return { provide, text: () => written.join('') }
}

/** Returns the sentence with which a machine refuses. */
async function refusal(given?: Machine): Promise<string> {
  const error = await machine(given)
    .provide()
    .then(
      (folder) => expect.fail(`provided ${folder}`),
      (thrown: unknown) => thrown,
    )
  expect(error).toBeInstanceOf(NoEngine)
  const { message } = error as NoEngine
  expect(message).toMatch(
    /^No engine is on PATH and [^\n]*: install OpenTofu \(tofu\) or Terraform \(terraform\) on PATH, or name one in IAC_BINARY\.$/,
  )
  return message
}

/** Publishes another list with a valid signature. */
async function publish(list: string): Promise<void> {
  releases.files[LIST] = Buffer.from(list)
  releases.files[`${LIST}.gpgsig`] = await key.sign(releases.files[LIST])
}

/** Lists the cache. A fault must leave nothing there that could be taken for an engine. */
const kept = () => readdir(cache).catch(() => [])

describe('a machine without an engine', () => {
  it('fetches the release once, and takes it from then on', async () => {
    const { provide, text } = machine()
    const folder = await provide()
    expect(folder).toBe(join(cache, FOLDER))
    const { stdout } = await run(join(folder ?? '', 'tofu'), ['version'])
    expect(stdout).toBe(`OpenTofu v${OPENTOFU}\nfor linux_amd64\n`)
    expect(releases.asked).toEqual([LIST, `${LIST}.gpgsig`, ARCHIVE])
    expect(text()).toBe(`No engine is on PATH: fetching OpenTofu ${OPENTOFU} from ${new URL(releases.url).host}\n`)
    const again = machine()
    expect(await again.provide()).toBe(folder)
    expect(releases.asked).toHaveLength(3)
    expect(again.text()).toBe('')
    expect(await kept()).toEqual([FOLDER])
  })

  it('shows in a terminal how far it is, in one line', async () => {
    const { provide, text } = machine({ isTTY: true })
    await provide()
    const lines = text().split('\r\u001b[2K')
    expect(lines.at(-1)).toMatch(/\[#{30}\] {2}\d+\.\d of \d+\.\d MiB\n$/)
    expect(text().match(/\n/g)).toHaveLength(1)
  })

  it.each([
    ['linux', 'arm64', 'linux_arm64', 'tofu'],
    ['darwin', 'arm64', 'darwin_arm64', 'tofu'],
    ['win32', 'x64', 'windows_amd64', 'tofu.exe'],
    ['win32', 'arm64', 'windows_amd64', 'tofu.exe'],
  ] as const)('takes on %s %s what is published for it', async (platform, architecture, target, program) => {
    const folder = await machine({ platform, architecture, env: { XDG_CACHE_HOME: home } }).provide()
    expect(folder).toBe(join(home, 'platform-engine', `opentofu-${OPENTOFU}-${target}`))
    expect(await readFile(join(folder ?? '', program), 'utf8')).toBe(programOf(target))
  })

  it.each([
    ['darwin', {}, 'Library/Caches/platform-engine'],
    ['win32', {}, 'AppData/Local/platform-engine'],
    ['win32', { LOCALAPPDATA: 'elsewhere' }, 'elsewhere/platform-engine'],
  ] as const)('keeps it on %s where the user has what can be fetched again: %o', async (platform, env, path) => {
    const given: Record<string, string> = 'LOCALAPPDATA' in env ? { LOCALAPPDATA: join(home, env.LOCALAPPDATA) } : {}
    const folder = await machine({ platform, architecture: 'arm64', env: given }).provide()
    expect(folder?.startsWith(join(home, path))).toBe(true)
  })

  it('asks the project itself unless a mirror is named', async () => {
    const asked: string[] = []
    const fetch: typeof globalThis.fetch = async (input) => {
      asked.push(String(input))
      return new Response(null, { status: 403 })
    }
    const env = { HOME: home, PATH: '' }
    const providing = provideEngine({
      env,
      output: { write: () => true },
      platform: 'linux',
      architecture: 'x64',
      fetch,
    })
    await expect(providing).rejects.toThrow(/answered 403\): install/)
    expect(asked).toEqual([`${RELEASES}/v${OPENTOFU}/${LIST}`])
    expect(RELEASES).toMatch(/^https:\/\/github\.com\/opentofu\//)
  })
})

describe('nothing is fetched', () => {
  it.each([
    ['tofu', 'linux'],
    ['terraform', 'linux'],
    ['tofu.exe', 'win32'],
  ] as const)('where %s is on PATH on %s', async (name, platform) => {
    await mkdir(join(home, 'bin'))
    await writeFile(join(home, 'bin', name), '#!/bin/sh\n', { mode: 0o755 })
    expect(await machine({ platform, env: { IAC_DOWNLOAD: 'false' } }).provide()).toBeNull()
    expect(releases.asked).toEqual([])
  })

  it.each(['false', ' FALSE ', '0', 'no'])('where IAC_DOWNLOAD is %j', async (value) => {
    const said = `IAC_DOWNLOAD=${value.trim().toLowerCase()} forbids to fetch one`
    expect(await refusal({ env: { IAC_DOWNLOAD: value } })).toContain(said)
    expect(releases.asked).toEqual([])
  })

  it.each([
    ['freebsd', 'x64'],
    ['linux', 'riscv64'],
    ['darwin', 'ia32'],
  ] as const)('for %s %s, for which nothing is published', async (platform, architecture) => {
    expect(targetOf(platform, architecture)).toBeNull()
    expect(await refusal({ platform, architecture })).toContain(`none is published for ${platform} ${architecture}`)
    expect(releases.asked).toEqual([])
  })
})

describe('what is refused', () => {
  it('an archive with another checksum', async () => {
    releases.files[ARCHIVE] = zip({ tofu: 'evil' })
    expect(await refusal()).toMatch(/has the checksum [0-9a-f]{64} instead of [0-9a-f]{64}/)
    expect(await kept()).toEqual([])
  })

  it('an archive and a list that fits it, which the key has not signed', async () => {
    const list = (releases.files[LIST] as Buffer).toString()
    releases.files[LIST] = Buffer.from(list.replaceAll(/^[1-9a-f]/gm, '0'))
    expect(await refusal()).toContain(`the signature of ${LIST} is not one of the project`)
    expect(releases.asked).not.toContain(ARCHIVE)
    expect(await kept()).toEqual([])
  })

  it('a list that another key has signed', async () => {
    const other = await createKey()
    releases.files[`${LIST}.gpgsig`] = await other.sign(releases.files[LIST] as Buffer)
    expect(await refusal()).toContain('is not one of the project')
  })

  it('a signature of another list by the same key, as of an older release', async () => {
    releases.files[`${LIST}.gpgsig`] = await key.sign(Buffer.from('older'))
    expect(await refusal()).toContain('is not one of the project')
  })

  it('a release without a signature, without the archive, or without this machine in its list', async () => {
    const { [`${LIST}.gpgsig`]: signature, [ARCHIVE]: archive } = releases.files
    delete releases.files[`${LIST}.gpgsig`]
    expect(await refusal()).toContain(`${LIST}.gpgsig answered 404`)
    releases.files[`${LIST}.gpgsig`] = signature as Buffer
    delete releases.files[ARCHIVE]
    expect(await refusal()).toContain(`${ARCHIVE} answered 404`)
    releases.files[ARCHIVE] = archive as Buffer
    await publish(`${'0'.repeat(64)}  ${nameOf('linux_arm64')}\n`)
    expect(await refusal()).toContain(`does not list ${ARCHIVE}`)
  })

  it('an archive without the program', async () => {
    releases.files[ARCHIVE] = zip({ LICENSE: 'text' })
    await publish(`${sum(releases.files[ARCHIVE])}  ${ARCHIVE}\n`)
    expect(await refusal()).toContain('holds no tofu')
  })
})

describe('a bad network', () => {
  it('a connection that is cut is taken up anew', async () => {
    let cuts = 0
    releases.ways[ARCHIVE] = (response, file) => {
      if (++cuts > 2) return response.writeHead(200).end(file)
      response.writeHead(200, { 'content-length': file.length })
      response.write(file.subarray(0, 20), () => response.destroy())
    }
    await machine().provide()
    expect(cuts).toBe(3)
    expect(await kept()).toEqual([FOLDER])
  })

  it('one that is cut again and again ends with a sentence and leaves nothing', async () => {
    releases.ways[ARCHIVE] = (response, file) => {
      response.writeHead(200, { 'content-length': file.length })
      response.write(file.subarray(0, 20), () => response.destroy())
    }
    expect(await refusal()).toContain('could not be fetched (')
    expect(releases.asked.filter((name) => name === ARCHIVE)).toHaveLength(3)
    expect(await kept()).toEqual([])
  })

  it('a slow one is waited for as long as something comes', async () => {
    releases.ways[ARCHIVE] = async (response, file) => {
      response.writeHead(200, { 'content-length': file.length })
      for (const byte of [file.subarray(0, 1), file.subarray(1, 2), file.subarray(2, 3), file.subarray(3)]) {
        await new Promise((resolve) => setTimeout(resolve, 250))
        response.write(byte)
      }
      response.end()
    }
    await machine({ stallMs: 700 }).provide()
    expect(releases.asked.filter((name) => name === ARCHIVE)).toHaveLength(1)
  })

  it.each([ARCHIVE, LIST])('one that stands still during %s is given up', async (name) => {
    releases.ways[name] = (response, file) => {
      if (name === LIST) return
      response.writeHead(200, { 'content-length': file.length }).write(file.subarray(0, 20))
    }
    expect(await refusal({ stallMs: 200 })).toContain('nothing came for 0.2 s')
    expect(await kept()).toEqual([])
  })

  it('one that leads nowhere is named', async () => {
    await releases.close()
    expect(await refusal()).toMatch(/127\.0\.0\.1:\d+: connect ECONNREFUSED/)
  })

  it('one behind a proxy is used, and only for this', async () => {
    const asked: string[] = []
    const proxy = createServer((request, response) => response.writeHead(400).end(request.url))
    proxy.on('connect', (request, socket) => {
      asked.push(request.url ?? '')
      const [host, port] = (request.url ?? '').split(':')
      const upstream = connect(Number(port), host, () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
        upstream.pipe(socket).pipe(upstream)
      })
      upstream.on('error', () => socket.destroy())
      socket.on('error', () => upstream.destroy())
    })
    const { url, close } = await listen(proxy)
    try {
      await machine({ env: { http_proxy: url, HTTP_PROXY: url } }).provide()
      expect(asked).toContain(new URL(releases.url).host)
      const before = asked.length
      expect((await fetch(`${releases.url}v${OPENTOFU}/${LIST}`)).status).toBe(200)
      expect(asked).toHaveLength(before)
    } finally {
      await close()
    }
  })
})

describe('a cache', () => {
  it.each(['cut', 'empty', 'gone', 'another'])('whose program is %s is filled anew', async (how) => {
    const folder = (await machine().provide()) ?? ''
    const program = join(folder, 'tofu')
    if (how === 'gone') await rm(program)
    else if (how === 'another') await writeFile(program, 'evil')
    else await truncate(program, how === 'cut' ? 10 : 0)
    expect(await machine().provide()).toBe(folder)
    expect(await readFile(program, 'utf8')).toBe(programOf('linux_amd64'))
    expect(releases.asked).toHaveLength(6)
  })

  it('in which killed processes have left something is swept when that is old', async () => {
    await mkdir(join(cache, 'incoming-old'), { recursive: true })
    await mkdir(join(cache, 'incoming-new'))
    await utimes(join(cache, 'incoming-old'), 1, 1)
    await machine().provide()
    expect((await kept()).sort()).toEqual(['incoming-new', FOLDER].sort())
  })

  it('that cannot be written is named', async () => {
    await mkdir(join(home, '.cache'))
    await writeFile(cache, 'a file')
    expect(await refusal()).toMatch(/could not be fetched \((EEXIST|ENOTDIR)/)
  })

  it('is filled by two processes at once, and both get a whole engine', async () => {
    await mkdir(join(home, 'bin'))
    await symlink(process.execPath, join(home, 'bin', 'node'))
    const env = { HOME: home, PATH: join(home, 'bin'), IAC_DOWNLOAD_URL: releases.url, TEST_PUBLIC_KEY: key.publicKey }
    const script = join(import.meta.dirname, 'provide-process.ts')
    const started = [1, 2, 3].map(() => run(process.execPath, [script], { env }))
    const folders = (await Promise.all(started)).map(({ stdout }) => stdout.trim())
    expect(new Set(folders)).toEqual(new Set([folders[0]]))
    const { stdout } = await run(join(folders[0] as string, 'tofu'), ['version'])
    expect(stdout).toContain(OPENTOFU)
    expect((await kept()).filter((name) => name.startsWith('incoming-'))).toEqual([])
  })
})
