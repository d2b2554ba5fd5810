import { appendFile, copyFile, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { OutputFollower } from '../../../../sidecars/iac/output/follow.ts'
import { hideCredentials, readLiveOutput } from '../../../../sidecars/iac/output/masking.ts'
import { SCOPE, stage, startFakeService, temporaryFolder } from '../service.ts'

const TOKEN = 'credential-0123456789-0123456789'
const KEY = `-----BEGIN KEY-----\n${'abcdefghijklmnop\n'.repeat(4)}x\nyz\n-----END KEY-----\n`
const DOCUMENT = '{\n  "type": "a",\n  "private_key": "k3y-K3Y-k3y-K3Y-k3y-K3Y-k3y-K3Y-1"\n}\n'
const SECRETS = [TOKEN, KEY, DOCUMENT]

/** Writes a text in parts to a file that is followed, and then masks the file as the end of a job does. */
async function followed(parts: readonly Buffer[], secrets: readonly string[] = SECRETS) {
  const path = join(await temporaryFolder(), 'stdout')
  await writeFile(path, '')
  const follower = new OutputFollower()
  const pieces: string[] = []
  let next = 0
  const take = async (ended: boolean) => {
    for (;;) {
      const piece = await follower.read(path, secrets, next, ended)
      if (piece.text === '') return
      pieces.push(piece.text)
      next = piece.next
    }
  }
  for (const part of parts) {
    await appendFile(path, part)
    await take(false)
  }
  const live = pieces.join('')
  await hideCredentials(path, secrets)
  await take(true)
  return { live, text: pieces.join(''), whole: await readFile(path, 'utf8'), pieces, next }
}

const inParts = (text: string, size: number): Buffer[] => {
  const bytes = Buffer.from(text)
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  )
}

describe('what is read along', () => {
  const text = `first ä\nkey ${TOKEN}\n${KEY}between\n${DOCUMENT}${TOKEN}${TOKEN}\n{\nlast, without an end €`

  it.each([
    1, 2, 3, 7, 20, 64, 1000,
  ])('is the masked file, whatever the borders of the pieces: %i bytes', async (size) => {
    const { text: read, whole, live, next } = await followed(inParts(text, size))
    expect(read).toBe(whole)
    expect(next).toBe(Buffer.byteLength(whole))
    expect(whole.startsWith(live)).toBe(true)
    for (const secret of [TOKEN, 'abcdefghijklmnop', 'k3y-K3Y', '"type"']) expect(read).not.toContain(secret)
  })

  it('comes in whole lines as soon as they are written', async () => {
    const { pieces } = await followed([Buffer.from('one\ntw'), Buffer.from('o\nthree\nfo'), Buffer.from('ur')])
    expect(pieces).toEqual(['one\n', 'two\nthree\n', 'four'])
  })

  it('waits with a line that may begin a secret, and only until it does not', async () => {
    const begun = await followed([Buffer.from('a\n{\n'), Buffer.from('  "other": 1\n')])
    expect(begun.pieces).toEqual(['a\n', '{\n  "other": 1\n'])
    const whole = await followed([Buffer.from(`a\n${DOCUMENT.slice(0, 20)}`), Buffer.from(DOCUMENT.slice(20))])
    expect(whole.text).toBe('a\n(sensitive value)')
  })

  it('does not stall at a line without an end, and hides what crosses its cuts', async () => {
    const filler = 'ä'.repeat(150_000)
    const long = `${filler}${TOKEN}${filler}${TOKEN.repeat(20_000)}`
    const { live, text: read, whole } = await followed(inParts(long, 97_001))
    expect(live.length).toBeGreaterThan(100_000)
    expect(read).toBe(whole)
    expect(whole.startsWith(live)).toBe(true)
    expect(read).not.toContain('0123456789')
    expect(read).not.toContain('\uFFFD')
  })

  it('reads any offset again', async () => {
    const path = join(await temporaryFolder(), 'stdout')
    await writeFile(path, `a ${TOKEN}\nb\nc\n`)
    const follower = new OutputFollower()
    const first = await follower.read(path, SECRETS, 0, false)
    expect(first).toEqual({ text: 'a (sensitive value)\nb\nc\n', next: 24 })
    expect(await follower.read(path, SECRETS, 20, false)).toEqual({ text: 'b\nc\n', next: 24 })
    expect(await new OutputFollower().read(path, SECRETS, 22, false)).toEqual({ text: 'c\n', next: 24 })
    expect(await follower.read(path, SECRETS, 24, false)).toEqual({ text: '', next: 24 })
    expect(await follower.read(path, SECRETS, 1_000_000, true)).toEqual({ text: '', next: 1_000_000 })
    expect(await follower.read(`${path}-none`, SECRETS, 5, true)).toEqual({ text: '', next: 5 })
  })

  it('begins again with another file in its place', async () => {
    const folder = await temporaryFolder()
    const path = join(folder, 'stdout')
    await writeFile(path, `${TOKEN}\nsecond\n`)
    const follower = new OutputFollower()
    const { next } = await follower.read(path, SECRETS, 0, false)
    await writeFile(`${path}.new`, `${'x'.repeat(20)}${TOKEN}${TOKEN}\nother\n`)
    await copyFile(`${path}.new`, `${path}.copy`)
    await rename(`${path}.copy`, path)
    const { text } = await follower.read(path, SECRETS, next, false)
    expect(text).not.toContain('0123456789')
    expect(text.endsWith('other\n')).toBe(true)
  })
})

const service = await startFakeService({ CLOUD_SECRET: 'very-secret-value' })

async function read(id: string, query: string, wait?: number) {
  const headers: Record<string, string> = wait === undefined ? {} : { prefer: `wait=${wait}` }
  return (await service.request('GET', `/v1/jobs/${id}/output?${query}`, { headers })).body
}

describe('the output of a job from an offset', () => {
  it('is answered as it comes, and held until there is something new or the job has ended', async () => {
    const script =
      'echo "key very-secret-value"; echo note >&2; printf half; echo on >started; cat gate >/dev/null; ' +
      'echo " and half"; echo on >started; cat gate >/dev/null; exit 2'
    const { workspace_path, started, gate } = await stage(service, script)
    const id = await service.submit('/v1/plan', { workspace_path, ...SCOPE, plan_file: 'p.plan' })
    await started.read()
    const first = await read(id, 'stdout_from=0&stderr_from=0')
    expect(first).toEqual({
      job_id: id,
      status: 'running',
      stdout: 'key (sensitive value)\n',
      stderr: 'note\n',
      stdout_next: 22,
      stderr_next: 5,
    })
    const query = 'stdout_from=22&stderr_from=5'
    expect(await read(id, query)).toMatchObject({ stdout: '', stderr: '', stdout_next: 22, stderr_next: 5 })
    const held = read(id, query, 60)
    await gate.write('')
    expect(await held).toMatchObject({ status: 'running', stdout: 'half and half\n', stderr: '', stdout_next: 36 })
    await started.read()
    const last = read(id, 'stdout_from=36&stderr_from=5', 60)
    await gate.write('')
    expect(await last).toMatchObject({ status: 'succeeded', stdout: '', stdout_next: 36 })
    const { result } = await service.finished(id)
    expect(result.stdout).toBe('key (sensitive value)\nhalf and half\n')
    // The offsets are valid in the result too.
    expect(await read(id, 'stdout_from=22')).toMatchObject({ stdout: 'half and half\n', stderr: 'note\n' })
  })

  it('is empty for a job that waits, and without the offsets as before', async () => {
    const { workspace_path, started, gate } = await stage(service, 'echo on >started; cat gate')
    const running = await service.submit('/v1/validate', { workspace_path })
    const waiting = await service.submit('/v1/validate', { workspace_path })
    await started.read()
    const none = { stdout: '', stderr: '', stdout_next: 0, stderr_next: 0 }
    expect(await read(waiting, 'stdout_from=0')).toEqual({ job_id: waiting, status: 'queued', ...none })
    const cancelled = read(waiting, 'stderr_from=0', 60)
    await service.request('DELETE', `/v1/jobs/${waiting}`)
    expect((await cancelled).status).toBe('failed')
    expect(await read(waiting, '')).toEqual({ job_id: waiting, status: 'failed', stdout: '', stderr: '' })
    await gate.write('')
    await service.finished(running)
  })

  it.each([
    ['no-uuid/output', 422],
    ['no-uuid/output?stdout_from=0', 422],
    ['2d1f5c6e-5b1f-4a39-8b8f-0d5d1b1c7a10/output', 404],
    ['2d1f5c6e-5b1f-4a39-8b8f-0d5d1b1c7a10/output?tail_bytes=0', 422],
    ['2d1f5c6e-5b1f-4a39-8b8f-0d5d1b1c7a10/output?tail_bytes=65537', 422],
    ['2d1f5c6e-5b1f-4a39-8b8f-0d5d1b1c7a10/output?tail_bytes=x', 422],
    ['2d1f5c6e-5b1f-4a39-8b8f-0d5d1b1c7a10/output?stdout_from=0', 404],
    ['2d1f5c6e-5b1f-4a39-8b8f-0d5d1b1c7a10/output?stdout_from=-1', 422],
    ['2d1f5c6e-5b1f-4a39-8b8f-0d5d1b1c7a10/output?stderr_from=1.5', 422],
    ['2d1f5c6e-5b1f-4a39-8b8f-0d5d1b1c7a10/output?stdout_from=0&stderr_from=x', 422],
    ['2d1f5c6e-5b1f-4a39-8b8f-0d5d1b1c7a10/output?stdout_from=9007199254740991', 404],
    ['2d1f5c6e-5b1f-4a39-8b8f-0d5d1b1c7a10/output?stdout_from=9007199254740992', 422],
    ['2d1f5c6e-5b1f-4a39-8b8f-0d5d1b1c7a10/output?stdout_from=0&tail_bytes=x', 422],
    ['2d1f5c6e-5b1f-4a39-8b8f-0d5d1b1c7a10/output?stderr_from=9007199254740993', 422],
  ])('answers %s with %d', async (path, status) => {
    expect((await service.request('GET', `/v1/jobs/${path}`)).status).toBe(status)
  })
})

const SECRET = 'credential-0123456789-0123456789-0123456789'

async function shown(text: string, bytes: number): Promise<string> {
  const folder = await temporaryFolder()
  const files = { stdout: join(folder, 'stdout'), stderr: join(folder, 'stderr') }
  await writeFile(files.stdout, text)
  return (await readLiveOutput(files, [SECRET], bytes)).stdout
}

it('shows whole lines without credentials', async () => {
  expect(await shown(`a\nkey ${SECRET}\nhalf of a li`, 1_000)).toBe('a\nkey (sensitive value)\n')
  expect(await shown('first\nsecond\nthird\n', 10)).toBe('third\n')
})

it('shows no part of a credential, however much shorter the marks of others make the text', async () => {
  const rest = `\n${`${SECRET}\n`.repeat(4)}last\n`
  const bytes = rest.length - 3
  for (let before = 0; before < SECRET.length; before++) {
    const text = await shown(`${'x'.repeat(500)}${SECRET}${rest}`, bytes + before)
    expect(text).not.toMatch(/\d{3}/)
    expect(text.endsWith('last\n')).toBe(true)
  }
})

describe('output of a running job', () => {
  it('shows whole lines of what was written so far, without credentials', async () => {
    const script =
      'echo first; echo "key very-secret-value"; printf "half a li"; echo on >started; cat gate >/dev/null; echo ne'
    const { workspace_path, started, gate } = await stage(service, script)
    const job_id = await service.submit('/v1/validate', { workspace_path })
    await started.read()
    const running = { job_id, status: 'running', stdout: 'first\nkey (sensitive value)\n', stderr: '' }
    expect(await read(job_id, '')).toEqual(running)
    await gate.write('')
    await service.finished(job_id)
    expect(await read(job_id, 'tail_bytes=12')).toMatchObject({ status: 'succeeded', stdout: 'half a line\n' })
  })
})
