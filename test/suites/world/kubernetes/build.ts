import { readFile } from 'node:fs/promises'
import type { Tools } from '../part.ts'
import { output } from '../tools/command.ts'
import { buildGo } from '../tools/go.ts'

/** Of the line that the provider is built for. Its modules are all at the proxy, as few versions' are. */
export const KUBERNETES = '1.33.13'

const MAIN = `package main

import (
	"os"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

func main() {
	root := &cobra.Command{Use: "kube"}
	root.AddCommand(apiserver.NewAPIServerCommand(), manager.NewControllerManagerCommand())
	os.Exit(cli.Run(root))
}
`

/**
 * Path of a program that is `kube-apiserver` and `kube-controller-manager`, by its first argument: one program, because
 * they share most of what they are made of. Its module requires the modules of Kubernetes by version; nothing is copied.
 * @throws Unavailable as `buildGo`
 */
export function buildKubernetes(tools: Tools): Promise<string> {
  const version = 'k8s.io/component-base/version'
  const [major, minor] = KUBERNETES.split('.')
  return buildGo(
    {
      name: 'kube',
      version: KUBERNETES,
      source: { files: async () => ({ 'go.mod': await goMod(), 'main.go': MAIN }) },
      package: '.',
      ldflags: `-X ${version}.gitVersion=v${KUBERNETES} -X ${version}.gitMajor=${major} -X ${version}.gitMinor=${minor}`,
      minutes: 90,
    },
    tools,
  )
}

/**
 * Kubernetes takes the modules that it publishes from its own tree. Whoever requires it has to name their versions: a
 * release 1.x of the whole is 0.x of each.
 */
async function goMod(): Promise<string> {
  const told = await output('go', ['mod', 'download', '-json', `k8s.io/kubernetes@v${KUBERNETES}`], { cwd: '/' })
  const { GoMod } = JSON.parse(told) as { GoMod: string }
  const own = [...(await readFile(GoMod, 'utf8')).matchAll(/^\t?(\S+) => \.\/staging\//gm)].map(([, name]) => name)
  const replaced = own.map((name) => `\t${name} => ${name} v${KUBERNETES.replace(/^1/, '0')}`)
  const required = `require k8s.io/kubernetes v${KUBERNETES}`
  return `module kube\n\ngo 1.24.0\n\n${required}\n\nreplace (\n${replaced.join('\n')}\n)\n`
}
