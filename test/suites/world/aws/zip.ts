import { crc32 } from 'node:zlib'

/** A zip archive of one file, stored as it is. */
export function zipOf(name: string, content: string): Buffer {
  const [file, data] = [Buffer.from(name), Buffer.from(content)]
  const shared = Buffer.alloc(26)
  shared.writeUInt16LE(20, 0)
  shared.writeUInt32LE(crc32(data), 10)
  shared.writeUInt32LE(data.length, 14)
  shared.writeUInt32LE(data.length, 18)
  shared.writeUInt16LE(file.length, 22)
  const local = Buffer.concat([Buffer.from('PK\x03\x04'), shared, file, data])
  const central = Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), shared, Buffer.alloc(14), file])
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(1, 8)
  end.writeUInt16LE(1, 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(local.length, 16)
  return Buffer.concat([local, central, end])
}
