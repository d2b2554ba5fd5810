import type { Part } from '../part.ts'
import { output } from '../tools/command.ts'
import { debianProgram } from '../tools/debian.ts'
import { KUBERNETES as PROVIDER } from '../tools/pinned-providers.ts'
import { installProvider } from '../tools/providers.ts'
import { buildKubernetes, KUBERNETES } from './build.ts'

/**
 * The engine's provider is hashicorp/kubernetes. The cluster is its API server and its controllers, without machines:
 * what is stored, listed, defaulted, admitted, changed and collected is real, and no pod ever runs.
 */
export const part: Part = {
  name: 'kubernetes',
  about: 'every mode against an API server, its controllers and the provider',
  ci: false,
  install: async (tools) => {
    const etcd = await debianProgram('etcd', 'etcd-server', tools)
    const mirror = await installProvider(PROVIDER, tools)
    const kube = await buildKubernetes(tools)
    const [, etcdVersion] = /etcd Version: (\S+)/.exec(await output(etcd, ['--version'])) ?? []
    return {
      version: `Kubernetes ${KUBERNETES}, etcd ${etcdVersion}, hashicorp/kubernetes ${PROVIDER.version}`,
      env: { WORLD_ETCD: etcd, WORLD_KUBE: kube, WORLD_MIRROR: mirror },
    }
  },
}
