# frozen_string_literal: true

require "fileutils"
require "random/formatter"

# What the experiment edge asks for: pages, an asset, a file. The application and the servers without one have the same.
module Edge
  HELLO = "Hello World!"
  WORDS =
    %w[the room is open until nine and we have ordered tea for all who wait so bring your own cup please see you].freeze
  # A digest in the name says that the file never changes.
  ASSET_PATH = "/assets/app-5f2c81d0a3b4c6e7.css"
  # What each page of the Rails application asks for.
  ASSETS = Array.new(40) do |number|
    "/assets/part#{number}-#{Random.new(number).hex(8)}.#{number.even? ? "css" : "js"}"
  end.freeze
  PAGES = 10

  class << self
    # @return [String] HTML of so many KB, which gzip makes a third as long
    def page(kilobytes)
      random = Random.new(kilobytes)
      page = +"<!doctype html>\n<html><body>\n"
      while page.bytesize < kilobytes * 1024 - 16
        page << "<p id=\"#{random.hex(8)}\">#{Array.new(12) { WORDS.sample(random: random) }.join(" ")}</p>\n"
      end
      "#{page}</body></html>\n"
    end

    # @return [String] 20 KB
    def asset = "/* #{Random.new(20).hex(9_997)} */\n"

    # @return [Array<Hash>] the rows of the Rails application: of each page so many that it has 30 KB
    def articles
      random = Random.new(30)
      Array.new(PAGES * 40) do |number|
        body = Array.new(120) { WORDS.sample(random: random) }.join(" ")
        {page: number / 40 + 1, title: "Article #{number}", body: body}
      end
    end

    # @return [String] 5 MB
    def file = Random.new(5).bytes(5 << 20)

    # Writes the folders `public`, of the asset; `files`, of the file; and `pages`, what the application answers.
    def write(folder)
      public = [ASSET_PATH, *ASSETS].to_h { |path| ["public#{path}", asset] }
      pages = {"hello" => HELLO, "page/10" => page(10), "page/100" => page(100), "public" => page(10)}
      {**public, "files/file" => file, **pages.transform_keys { |name| "pages/#{name}" }}.each do |name, content|
        path = File.join(folder, name)
        FileUtils.mkdir_p(File.dirname(path))
        File.binwrite(path, content)
        File.utime(0, 0, path) # none that may still be written
      end
    end
  end
end
