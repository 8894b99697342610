//! The machine code that the stand-in for NVRTC makes and that for the driver loads: a header, then a shared library of the
//! emulator. All numbers are of 64 bits.

/// How an image begins.
const MAGIC: [u8; 8] = *b"\x7fFFCUBIN";

/// Room for the name of the architecture.
const ARCHITECTURE: usize = 16;

/// Magic, length of the library, its checksum, architecture.
const HEADER: usize = MAGIC.len() + 8 + 8 + ARCHITECTURE;

/// An image that was read.
#[derive(Debug)]
pub(crate) struct Image<'i> {
    /// As in `sm_90`.
    pub architecture: String,
    pub library: &'i [u8],
}

/// The image of a library for an architecture, whose name is short.
pub(crate) fn write(architecture: &str, library: &[u8]) -> Vec<u8> {
    let mut image = MAGIC.to_vec();
    image.extend((library.len() as u64).to_le_bytes());
    image.extend(checksum(library).to_le_bytes());
    let mut name = [0; ARCHITECTURE];
    name[..architecture.len()].copy_from_slice(architecture.as_bytes());
    image.extend(name);
    image.extend(library);
    image
}

/// Reads an image, or says what is wrong with it.
///
/// # Safety
/// The pointer is null, or that of memory that begins as an image only if it is as long as it says.
pub(crate) unsafe fn read<'i>(image: *const u8) -> Result<Image<'i>, &'static str> {
    if image.is_null() {
        return Err("the image is null");
    }
    // SAFETY: byte by byte, so that nothing is read beyond what does not begin as an image.
    if (0..MAGIC.len()).any(|place| unsafe { image.add(place).read() } != MAGIC[place]) {
        return Err("the image does not begin as one of the stand-in for NVRTC");
    }
    // SAFETY: it begins as an image, so the caller has all of its header.
    let header = unsafe { std::slice::from_raw_parts(image, HEADER) };
    let number = |place: usize| u64::from_le_bytes(header[place..place + 8].try_into().expect("eight bytes"));
    // SAFETY: and all of its library.
    let library = unsafe { std::slice::from_raw_parts(image.add(HEADER), number(8) as usize) };
    if checksum(library) != number(16) {
        return Err("the image is damaged: its checksum is another");
    }
    let architecture = header[HEADER - ARCHITECTURE..].split(|&byte| byte == 0).next().unwrap_or_default();
    Ok(Image { architecture: String::from_utf8_lossy(architecture).into_owned(), library })
}

/// FNV-1a over words of 8 bytes and what is left.
fn checksum(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words.iter().fold(0xcbf2_9ce4_8422_2325, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    rest.iter().fold(hash, |hash, &byte| mix(hash, u64::from(byte)))
}
