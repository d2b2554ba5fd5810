import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Part, Tools } from '../part.ts'
import { output } from '../tools/command.ts'
import { installPackages } from '../tools/npm-folder.ts'

interface Published {
  repository: string
  commit: string
  path: string
}

/** The file of GitLab's release, as a client generator keeps it: the repository of GitLab itself is very large. */
const GITLAB: Published = {
  repository: 'https://github.com/voxgig-sdk/gitlab-sdk',
  commit: '83a37da5b16ad703da3a07fdca2d822e77d476e7',
  path: '.sdk/def/gitlab-openapi.yaml',
}
const AZURE: Published = {
  repository: 'https://github.com/MicrosoftDocs/vsts-rest-api-specs',
  commit: 'adb28786a3e9349d5b3deb43eb2134b682c33bb2',
  path: 'specification/git/7.1/git.json',
}
const AZURE_POLICIES: Published = { ...AZURE, path: 'specification/policy/7.1/policy.json' }

const packages = (tools: Tools) =>
  installPackages('git-hosts', join(import.meta.dirname, '../../oracles/git-hosts'), tools)

const checks = (file: string) => [
  { title: file, kind: 'vitest' as const, args: ['--project', 'world', file], env: { WORLD_PART: 'git-hosts' } },
]

/** A file of a repository at a commit, fetched once. Throws `Unavailable` where the repository cannot be reached. */
async function published({ repository, commit, path }: Published, { cache, folder, say }: Tools): Promise<string> {
  const file = join(cache, `openapi-${commit.slice(0, 12)}-${path.split('/').at(-1)}`)
  if (await stat(file).catch(() => null)) return file
  say(`fetching ${path} of ${repository}`)
  const git = (...args: string[]) => output('git', ['-C', folder, ...args])
  await git('init', '--quiet')
  await git('fetch', '--quiet', '--depth=1', repository, commit)
  await writeFile(file, await git('show', `FETCH_HEAD:${path}`))
  return file
}

/** The requests and answers of pull requests beside the interface that GitHub publishes. */
export const part: Part = {
  name: 'git-hosts',
  about: 'requests to GitHub, and the answers of the bundled git host, beside the interface that GitHub publishes',
  ci: true,
  install: async (tools) => {
    const { folder, versions } = await packages(tools)
    const document = join(folder, 'node_modules/@octokit/openapi/generated/api.github.com.json')
    return {
      version: `@octokit/openapi ${versions['@octokit/openapi']}`,
      env: { GIT_HOSTS: folder, GITHUB_OPENAPI: document },
      commands: checks('git-hosts/github.world.ts'),
    }
  },
}

const other = (name: string, host: string, sources: Record<string, Published>): Part => ({
  name,
  about: `requests to ${host}, and the answers that our tests give in its place, beside the interface that it publishes`,
  ci: false,
  install: async (tools) => {
    const { folder } = await packages(tools)
    const env: Record<string, string> = { GIT_HOSTS: folder }
    const versions: string[] = []
    for (const [variable, source] of Object.entries(sources)) {
      const document = await published(source, tools)
      env[variable] = document
      const version = /"?version"?: *'?"?([\w.]+)/.exec(await readFile(document, 'utf8'))?.[1]
      versions.push(`${source.path.split('/').at(-1)} ${version} at ${source.commit.slice(0, 12)}`)
    }
    return { version: versions.join(', '), env, commands: checks(`git-hosts/${name}.world.ts`) }
  },
})

export const gitlab = other('gitlab', 'GitLab', { GITLAB_OPENAPI: GITLAB })
export const azureDevops = other('azure-devops', 'Azure DevOps', {
  AZURE_OPENAPI: AZURE,
  AZURE_POLICY_OPENAPI: AZURE_POLICIES,
})
