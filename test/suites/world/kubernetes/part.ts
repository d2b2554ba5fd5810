import type { Part } from '../part.ts'
import { output } from '../tools/command.ts'
import { debianProgram } from '../tools/debian.ts'
import { KUBERNETES as PROVIDER, SMALL } from '../tools/pinned-providers.ts'
import { installProvider, type Provider } from '../tools/providers.ts'
import { buildKubernetes, KUBERNETES } from './build.ts'

/**
 * The engine's provider is hashicorp/kubernetes. The cluster is its API server and its controllers, without machines:
 * what is stored, listed, defaulted, admitted, changed and collected is real, and no pod ever runs.
 */
export const part: Part = {
  name: 'kubernetes',
  about: 'every mode against an API server, its controllers and the provider',
  ci: true,
  install: async (tools) => {
    const etcd = await debianProgram('etcd', 'etcd-server', tools)
    const mirror = await installProvider(PROVIDER, tools)
    // For a pause between two objects of one apply.
    await installProvider(SMALL.time as Provider, tools)
    const kube = await buildKubernetes(tools)
    const [, etcdVersion] = /etcd Version: (\S+)/.exec(await output(etcd, ['--version'])) ?? []
    return {
      version: `Kubernetes ${KUBERNETES}, etcd ${etcdVersion}, hashicorp/kubernetes ${PROVIDER.version}`,
      env: { WORLD_ETCD: etcd, WORLD_KUBE: kube, WORLD_MIRROR: mirror },
    }
  },
}
