# frozen_string_literal: true

# The doors of the rooms: methods that only other rooms may use, as the rooms' READMEs list them.
module Doors
  ROOT = File.expand_path("../..", __dir__)
  FULL = /\A[A-Z]\w*(?:::\w+)*[.#]/
  private_constant :FULL

  # @return [Hash{String => String}] the README by the door, such as "Pelton::Stream#put"
  def self.all
    Dir["{lib,pelton-*/lib}/**/README.md", base: ROOT].flat_map { |file| of(file).map { |door| [door, file] } }.to_h
  end

  # A name without its class has that of the name before it.
  def self.of(file)
    File.read("#{ROOT}/#{file}")[/^## Doors$(.*)/m].to_s.scan(/^- (`.*?):? ?[^`]*$/).flatten.flat_map do |line|
      owner = nil
      line.scan(/`([^`]+)`/).flatten.filter_map do |name|
        owner = name[/\A[\w:]+/] if name.match?(FULL)
        name.match?(FULL) ? name : ("#{owner}#{name}" if owner && name.match?(/\A[.#]\w+[?!=]?\z/))
      end
    end
  end
  private_class_method :of
end
