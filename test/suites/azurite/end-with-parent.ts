// Preloaded into the emulator: however the script that started it ends, the emulator ends too.
process.on('disconnect', () => process.exit(0))
