const SYSTEMS: Partial<Record<NodeJS.Platform, string>> = { win32: 'windows' }
const ARCHITECTURES: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64', ia32: '386' }

/** This machine, as releases of engines and providers name it: `linux_amd64`. */
export const PLATFORM = `${SYSTEMS[process.platform] ?? process.platform}_${ARCHITECTURES[process.arch] ?? process.arch}`
