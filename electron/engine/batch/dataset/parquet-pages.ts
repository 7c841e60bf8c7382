import type { AsyncBuffer, ColumnMetaData, RowGroup } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';

/** Of one page unpacked; writers make pages of about 1 MB. */
export const MAX_PAGE_BYTES = 512 * 1024 * 1024;
/** Of one page; a value that is null takes next to no place in the file, but eight bytes in memory. */
const MAX_PAGE_VALUES = 20_000_000;
const MAX_GROUP_VALUES = 200_000_000;

/**
 * Looks at the headers of all pages of a row group before they are decoded: sizes that are negative, or that lead out of the file, make
 * the decoder go on for ever or take all memory. Throws an Error that says what is wrong.
 */
export async function checkPages(file: AsyncBuffer, group: RowGroup): Promise<void> {
  const rows = Number(group.num_rows);
  for (const { meta_data: column } of group.columns) {
    const values = Number(column?.num_values ?? -1);
    if (!column || !Number.isSafeInteger(rows) || rows < 0 || values < rows) throw new Error('a row group announces rows that it does not have');
    if (values > MAX_GROUP_VALUES) throw new Error('a row group has more than 200 million values in one column');
    if (rows > 0) checkColumn(new DataView(await file.slice(...rangeOf(column))), values);
  }
}

function checkColumn(view: DataView, values: number): void {
  const reader = { view, offset: 0 };
  let found = 0;
  while (found < values) {
    const header = parquetHeader(reader);
    const packed = header.compressed_page_size;
    if (!(packed >= 0 && reader.offset + packed <= view.byteLength)) throw new Error('a page ends outside of its column');
    if (!(header.uncompressed_page_size >= 0 && header.uncompressed_page_size <= MAX_PAGE_BYTES)) throw new Error('a page is announced to be larger than 512 MB');
    const page = header.type === 'DATA_PAGE' ? header.data_page_header : header.type === 'DATA_PAGE_V2' ? header.data_page_header_v2 : undefined;
    const here = page?.num_values ?? 0;
    if (page ? !(Number.isInteger(page.num_values) && here <= Math.min(values - found, MAX_PAGE_VALUES) && here >= 0 && page.encoding !== undefined) : header.type !== 'DICTIONARY_PAGE') {
      throw new Error('a page announces values that are not there');
    }
    const dictionary = header.dictionary_page_header?.num_values;
    // the smallest value of a dictionary is one bit
    if (header.type === 'DICTIONARY_PAGE' && !(dictionary !== undefined && dictionary >= 0 && dictionary <= header.uncompressed_page_size * 8)) throw new Error('a dictionary announces values that are not there');
    found += here;
    reader.offset += packed;
  }
}

function rangeOf({ dictionary_page_offset: dictionary, data_page_offset: data, total_compressed_size: size }: ColumnMetaData): [number, number] {
  const start = Number(dictionary || data);
  return [start, start + Number(size)];
}
