import type { Part } from '../part.ts'
import { output } from '../tools/command.ts'
import { foreignProgram } from '../tools/debian.ts'

const LIBRARIES = ['libc6', 'libaudit1', 'libcap-ng0', 'libcap2', 'libgcc-s1', 'libpam0g', 'libsystemd0', 'libzstd1']

/** Each with the packages of its release that it needs. */
const RELEASES = [
  {
    release: 'bookworm',
    packages: ['libc-ares2', 'libevent-2.1-7', 'libssl3', 'liblz4-1', 'liblzma5', 'libgcrypt20', 'libgpg-error0'],
  },
  { release: 'forky', packages: ['libcares2', 'libevent-2.1-7t64', 'libssl3t64', 'libldap2', 'libsasl2-2', 'zlib1g'] },
]

/** Poolers between the platform and its database. */
export const part: Part = {
  name: 'poolers',
  about: 'pgbouncer before the database, of Debian 12 and current: statements, notifications, rounds and their streams',
  ci: true,
  install: async (tools) => {
    const found: { name: string; command: string[] }[] = []
    for (const { release, packages } of RELEASES) {
      const command = await foreignProgram(
        { release, program: 'usr/sbin/pgbouncer', packages: ['pgbouncer', ...LIBRARIES, ...packages] },
        tools,
      )
      const [program = '', ...args] = command
      const name = (await output(program, [...args, '--version'])).split('\n')[0] ?? ''
      found.push({ name, command })
    }
    return { version: found.map(({ name }) => name).join(', '), env: { POOLERS: JSON.stringify(found) } }
  },
}
