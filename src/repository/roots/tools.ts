/** Tools besides the engine whose code a repository may hold. */
export const TOOLS = ['terragrunt', 'pulumi', 'helm', 'cdktf', 'stack'] as const
export type Tool = (typeof TOOLS)[number]

/** The files by which a tool is known, as whole names and, with a dot in front, as endings of names. */
const SIGNS: Record<Tool, readonly string[]> = {
  terragrunt: ['terragrunt.hcl', 'terragrunt.hcl.json', 'terragrunt.stack.hcl'],
  pulumi: ['Pulumi.yaml', 'Pulumi.yml'],
  helm: ['Chart.yaml'],
  cdktf: ['cdktf.json'],
  stack: ['hcl', 'json'].flatMap((form) => [`.tfcomponent.${form}`, `.tfstack.${form}`, `.tfdeploy.${form}`]),
}

/** Endings of the names of all files that `findTools` looks at. */
export const TOOL_SUFFIXES: readonly string[] = Object.values(SIGNS).flat()

/** Returns the tools whose files a repository holds, in the order of `TOOLS`. */
export const findTools = (paths: readonly string[]): Tool[] => findToolFiles(paths).map(({ tool }) => tool)

/** Returns each tool whose files are among the paths, with the first of them, in the order of `TOOLS`. */
export function findToolFiles(paths: readonly string[]): { tool: Tool; path: string }[] {
  const names = paths.map((path) => path.slice(path.lastIndexOf('/') + 1))
  return TOOLS.flatMap((tool) => {
    const isSign = (name: string) =>
      SIGNS[tool].some((sign) => (sign.startsWith('.') ? name.endsWith(sign) : name === sign))
    const path = paths[names.findIndex(isSign)]
    return path === undefined ? [] : [{ tool, path }]
  })
}
