import { HELM, prepareHelm } from '../../chart/tools.ts'
import { buildKubernetes, KUBERNETES } from '../kubernetes/build.ts'
import type { Part } from '../part.ts'
import { output } from '../tools/command.ts'
import { debianProgram } from '../tools/debian.ts'

/** Pods are admitted and never run, because the cluster has no machines. */
export const part: Part = {
  name: 'chart',
  about: 'the chart against an API server: strict validation, pod security, quotas, upgrade, removal',
  // Not yet in continuous integration: docs/world.md says what was run.
  ci: false,
  install: async (tools) => {
    const etcd = await debianProgram('etcd', 'etcd-server', tools)
    const promtool = await debianProgram('promtool', 'prometheus', tools)
    const helm = await prepareHelm(tools)
    const kube = await buildKubernetes(tools)
    const [, prometheus] = /version (\S+)/.exec(await output(promtool, ['--version'])) ?? []
    return {
      version: `Kubernetes ${KUBERNETES}, Helm ${HELM}, promtool ${prometheus}`,
      env: { WORLD_ETCD: etcd, WORLD_KUBE: kube, WORLD_HELM: helm, WORLD_PROMTOOL: promtool },
    }
  },
}
