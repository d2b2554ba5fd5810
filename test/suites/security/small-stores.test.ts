import { spawn } from 'node:child_process'
import { renameSync, writeFileSync } from 'node:fs'
import { lstat, readdir, readFile, rename, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { readDatabaseAddress } from '../../../config/database-address.ts'
import { assignRole, openRoleStore, withFileLock } from '../../../sidecars/authz/role-store.ts'
import { domainOf } from '../../../sidecars/iac/inventory/oci/credentials.ts'
import { createDeliveries, Notification } from '../../../sidecars/notifications/deliveries.ts'
import { useFolder } from '../../helpers/folder.ts'
import { attack } from './attack.ts'

const folder = useFolder()
const old = new Date(Date.now() - 60_000)

describe('role store', () => {
  const GROUP = 'lock of the role store'

  attack(GROUP, 'many that find the same stale lock', async () => {
    for (let round = 0; round < 30; round++) {
      const path = join(folder.path, `stale-${round}.lock`)
      await writeFile(path, '')
      await utimes(path, old, old)
      let [inside, most, runs] = [0, 0, 0]
      await Promise.all(
        Array.from({ length: 20 }, () =>
          withFileLock(path, async () => {
            most = Math.max(most, ++inside)
            await new Promise((resolve) => setTimeout(resolve, 1))
            inside--
            runs++
          }),
        ),
      )
      expect([most, runs]).toEqual([1, 20])
    }
    expect((await readdir(folder.path)).filter((name) => name.startsWith('stale-'))).toEqual([])
    return 'who removes a lock claims exactly that lock; 30 rounds of 20 never ran two at once'
  })

  attack(GROUP, 'a holder that comes back after its lock was taken', async () => {
    const path = join(folder.path, 'taken.lock')
    let held = true
    await withFileLock(path, async (lock) => {
      // Another process considered the lock too old and has made its own.
      await writeFile(`${path}.new`, 'of another')
      await rename(`${path}.new`, path)
      held = await lock.isHeld()
    })
    expect(held).toBe(false)
    expect(await readFile(path, 'utf8')).toBe('of another')
    return 'it neither removes the lock of the other nor counts as its holder'
  })

  attack(GROUP, 'a change that was overtaken does not write', async () => {
    const path = join(folder.path, 'roles.json')
    const store = openRoleStore(path)
    await store.change((users) => assignRole(users, 'first', 'admin'))
    const before = await readFile(path, 'utf8')
    let calls = 0
    const overtaken = store.change((users) => {
      // The second call runs under the lock; by then the other process has it.
      if (++calls === 2) takeOver(`${path}.lock`)
      return assignRole(users, 'second', 'admin')
    })
    await expect(overtaken).rejects.toThrow('The lock of the role store was taken by another process.')
    expect(await readFile(path, 'utf8')).toBe(before)
    return 'The lock of the role store was taken by another process.'
  })

  attack(GROUP, 'a link in its place', async () => {
    const [path, victim] = [join(folder.path, 'link.lock'), join(folder.path, 'victim')]
    await writeFile(victim, 'precious')
    await utimes(victim, old, old)
    await symlink(victim, path)
    await expect(withFileLock(path, async () => 'ran')).rejects.toThrow('stays locked')
    expect([await readFile(victim, 'utf8'), (await lstat(path)).isSymbolicLink()]).toEqual(['precious', true])
    return 'only a regular file is taken for a lock: The role store stays locked by another process.'
  })
})

describe('notifications', () => {
  const GROUP = 'memory of notifications'
  const message = (index: number) =>
    Notification.parse({
      kind: 'x',
      severity: 'info',
      subject: `message ${index}`,
      body: 'b'.repeat(16_000),
      context: { facts: `${index}${'c'.repeat(400_000)}` },
    })

  attack(GROUP, '1500 different ones of 400 KB within half a minute', async () => {
    const deliveries = createDeliveries({ deliver: async () => {} })
    const first = await deliveries.deliver(message(0))
    globalThis.gc?.()
    const before = process.memoryUsage().heapUsed
    for (let index = 1; index < 1_500; index++) await deliveries.deliver(message(index))
    globalThis.gc?.()
    // All of them together have 600 MB.
    expect((process.memoryUsage().heapUsed - before) / 1e6).toBeLessThan(300)
    expect(await deliveries.deliver(message(0))).toBe(first)
    return 'only hashes are kept; the first one is still known'
  })

  attack(GROUP, 'more than may be remembered', async () => {
    const deliveries = createDeliveries({ deliver: async () => {} }, { maxBytes: 10 * 512 })
    const ids = []
    for (let index = 0; index < 11; index++) ids.push(await deliveries.deliver(message(index)))
    expect(await deliveries.deliver(message(10))).toBe(ids[10])
    expect(await deliveries.deliver(message(0))).not.toBe(ids[0])
    return 'the oldest are forgotten first'
  })
})

describe('names of the prototype', () => {
  const GROUP = 'names of the prototype'

  for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty'])
    attack(GROUP, `LOG_LEVEL=${name}`, async () => {
      const { code, output } = await run({ LOG_LEVEL: name, CHAT_WEBHOOK_URL: 'https://chat.example/hook' })
      expect(code).toBe(1)
      expect(output).toContain(`LOG_LEVEL must be DEBUG, INFO, WARNING, ERROR or CRITICAL, got '${name}'`)
      return output
    })

  attack(GROUP, 'sslmode and realm', async () => {
    expect(() => readDatabaseAddress('postgresql://h/d?sslmode=constructor')).toThrow(
      "sslmode 'constructor' is not known",
    )
    expect(() => domainOf({}, 'eu-x-1', 'constructor')).toThrow('the OCI realm constructor is unknown')
    return 'tables of names are maps: sslmode ‘constructor’ is not known'
  })
})

/** Replaces the existing lock, at once. */
function takeOver(path: string): void {
  writeFileSync(`${path}.new`, '')
  renameSync(`${path}.new`, path)
}

/** Starts the notifications service as a process and waits for its end. */
function run(env: Record<string, string>): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, ['sidecars/main.ts', 'notifications'], {
    env: { PATH: process.env.PATH, PLATFORM_PORT: '0', PLATFORM_HOST: '127.0.0.1', ...env },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
  return new Promise((resolve, reject) => {
    // A service that starts in spite of its setting would run for ever.
    const timer = setTimeout(() => child.kill(), 15_000)
    child.once('error', reject)
    child.once('close', (code) => {
      clearTimeout(timer)
      resolve({ code, output: output.trim() })
    })
  })
}
