import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterEach, expect, test } from 'vitest'
import { FolderInUse, runningStack, type StackRecord, takeFolder } from '../../../dev/stack/data-folder.ts'
import { formatLogLine, type LogSource } from '../../../dev/stack/log-lines.ts'
import { corePort, loadPorts } from '../../../dev/stack/ports.ts'
import { identify } from '../../../src/runtime/process-identity.ts'
import { temporaryFolder } from '../../helpers/folder.ts'

const root = temporaryFolder()
let count = 0
const children: ChildProcess[] = []
const folder = () => join(root, String(++count))

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

function sleeper(): ChildProcess & { pid: number } {
  const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' })
  children.push(child)
  return child as ChildProcess & { pid: number }
}

async function abandoned(path: string, change: (record: StackRecord) => void): Promise<void> {
  const ownership = await takeFolder(path, () => {})
  ownership.addChild('worker', process.pid)
  const file = join(path, 'stack.json')
  const record = JSON.parse(await readFile(file, 'utf8')) as StackRecord
  record.owner = { name: 'launcher', pid: 2 ** 22 + 1, started: 'an earlier boot/1' }
  record.children = []
  change(record)
  await writeFile(file, JSON.stringify(record))
}

test('a folder has one owner at a time', async () => {
  const path = folder()
  const ownership = await takeFolder(path, () => {})
  await expect(takeFolder(path, () => {})).rejects.toThrow(FolderInUse)
  await expect(takeFolder(path, () => {})).rejects.toThrow(/already runs on .* \(process \d+\)/)
  expect(runningStack(path)?.owner.pid).toBe(process.pid)
  ownership.release()
  expect(runningStack(path)).toBeNull()
  ;(await takeFolder(path, () => {})).release()
})

test('what a killed owner left running is ended, and said', async () => {
  const path = folder()
  const left = sleeper()
  const gone = once(left, 'exit')
  await abandoned(path, (record) => record.children.push({ name: 'core', ...identify(left.pid) }))
  const said: string[] = []
  ;(await takeFolder(path, (line) => said.push(line))).release()
  await gone
  expect(said.join()).toContain(`core (${left.pid})`)
})

test('a process that merely has a recorded number is left alone', async () => {
  const path = folder()
  const stranger = sleeper()
  await abandoned(path, (record) =>
    record.children.push({ name: 'core', pid: stranger.pid, started: 'an earlier boot/1' }),
  )
  const said: string[] = []
  ;(await takeFolder(path, (line) => said.push(line))).release()
  expect(stranger.exitCode).toBeNull()
  expect(process.kill(stranger.pid, 0)).toBe(true)
  expect(said).toEqual([])
})

test('a record that cannot be read does not lock the folder for ever', async () => {
  const path = folder()
  ;(await takeFolder(path, () => {})).release()
  await writeFile(join(path, 'stack.json'), '{"owner":')
  ;(await takeFolder(path, () => {})).release()
})

test('ports: remembered, given up aloud when taken, refused when asked for and taken', async () => {
  const path = folder()
  ;(await takeFolder(path, () => {})).release()
  const said: string[] = []
  const say = (line: string) => said.push(line)
  const first = await (await loadPorts(path, say)).reserve('git host')
  expect(await (await loadPorts(path, say)).reserve('git host')).toBe(first)
  expect(said).toEqual([])
  const occupant = createServer().listen(first, '127.0.0.1')
  await once(occupant, 'listening')
  try {
    expect(await (await loadPorts(path, say)).reserve('git host')).not.toBe(first)
    expect(said).toEqual([expect.stringContaining(`git host: port ${first} of the last run is taken`)])
    await expect(corePort(String(first), say)).rejects.toThrow(`Port ${first} (PLATFORM_PORT) is taken`)
    await expect(corePort('http', say)).rejects.toThrow(/must be a port number/)
  } finally {
    occupant.close()
  }
})

test('the default port gives way, said aloud', async () => {
  const occupant = createServer()
  // If another program has it already, it counts as taken as well.
  await new Promise((resolve) => occupant.once('error', resolve).listen(8000, '127.0.0.1', () => resolve(null)))
  const said: string[] = []
  try {
    expect(await corePort(undefined, (line) => said.push(line))).not.toBe(8000)
    expect(said).toEqual([expect.stringContaining('port 8000 is taken')])
  } finally {
    occupant.close()
  }
})

test('log lines are made readable; other lines stay as they are', () => {
  const format = (name: LogSource, line: string | object) => {
    const text = formatLogLine(name, typeof line === 'string' ? line : JSON.stringify(line))
    return text && stripVTControlCharacters(text)
  }
  const started = { time: '2026-01-31T23:59:59.000Z', level: 'info', message: 'round started', process: 'worker' }
  expect(format('worker', { ...started, round: 3 })).toBe('worker 23:59:59 round started round=3')
  expect(format('core', { level: 'error', message: 'no', error: { message: 'because' } })).toContain(
    'error no: because',
  )
  expect(format('core', { level: 'debug', message: 'detail' })).toBeNull()
  expect(format('iac', 'plain text')).toBe('iac    plain text')
  expect(format('iac', '{broken')).toBe('iac    {broken')
})
