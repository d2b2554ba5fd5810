import type { Provider } from './providers.ts'

/**
 * Small providers, by name. The proxy of Go has the modules of some at the commit of their release, under the name that
 * they had before version 2; the others come from a registry or not at all.
 */
export const SMALL: Record<string, Provider> = {
  archive: { name: 'archive', version: '2.8.0' },
  http: { name: 'http', version: '3.6.0' },
  local: {
    name: 'local',
    version: '2.9.0',
    source: {
      module: 'github.com/terraform-providers/terraform-provider-local',
      version: 'v1.4.1-0.20260513075820-3561e410f9fe',
    },
  },
  null: { name: 'null', version: '3.3.1' },
  random: {
    name: 'random',
    version: '3.9.0',
    source: {
      module: 'github.com/terraform-providers/terraform-provider-random',
      version: 'v1.3.2-0.20260513075824-f8d869dc98d9',
    },
  },
  time: {
    name: 'time',
    version: '0.14.2',
    source: { module: 'github.com/hashicorp/terraform-provider-time', version: 'v0.14.2' },
  },
  tls: {
    name: 'tls',
    version: '4.2.1',
    source: {
      module: 'github.com/hashicorp/terraform-provider-tls',
      version: 'v1.2.1-0.20260130152455-857b38cda3fc',
    },
  },
}

/** Built from source it is two commits past its release: an update of gRPC, and a list of who owns the code. */
export const KUBERNETES: Provider = {
  name: 'kubernetes',
  version: '3.2.1',
  source: {
    module: 'github.com/hashicorp/terraform-provider-kubernetes',
    version: 'v1.13.4-0.20260821094251-3a33fb6cc605',
  },
  minutes: 60,
  build: { ldflags: '-X main.Version=3.2.1' },
}
