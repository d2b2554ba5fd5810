import type { Part } from '../part.ts'
import { output } from '../tools/command.ts'
import { debianProgram } from '../tools/debian.ts'

/** The proxies that operators put before the core, with the configurations of `docs/examples/proxies`. */
export const part: Part = {
  name: 'proxies',
  about: 'the core behind nginx, HAProxy and Caddy: streams, HTTP/1.0 to 2, long headers, paths, callers, IPv6',
  ci: true,
  install: async (tools) => {
    const nginx = await debianProgram('nginx', 'nginx', tools)
    const haproxy = await debianProgram(
      'haproxy',
      ['haproxy', 'liblua5.3-0', 'libopentracing-c-wrapper0', 'libopentracing1'],
      tools,
    )
    const caddy = await debianProgram('caddy', 'caddy', tools)
    const versionOf = async (program: string, argument: string) =>
      /\d+\.\d+\.\d+/.exec(await output('sh', ['-c', '"$0" "$1" 2>&1', program, argument]))?.[0]
    const versions = [
      `nginx ${await versionOf(nginx, '-v')}`,
      `HAProxy ${await versionOf(haproxy, '-v')}`,
      `Caddy ${await versionOf(caddy, 'version')}`,
    ]
    return { version: versions.join(', '), env: { NGINX: nginx, HAPROXY: haproxy, CADDY: caddy } }
  },
}
