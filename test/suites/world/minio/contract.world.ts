import { describeStore } from '../../../dev/object-store/contract.ts'
import { startMinio } from './server.ts'

describeStore('MinIO', () => startMinio())
