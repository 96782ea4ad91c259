# frozen_string_literal: true

require "mini_magick"
require "tempfile"

# Small images, made by ImageMagick in a process of its own, with limits: an image of a few bytes may have billions of
# pixels.
module Thumbnail
  # The message is ImageMagick's, for the log.
  class Failed < StandardError
    # @return [String] for users: ImageMagick says the same of an image that is broken and of one beyond the limits
    def problem = "the image is broken, or has too many pixels"
  end

  LIMITS = {"memory" => "256MiB", "map" => "256MiB", "disk" => "0", "area" => "64MP", "width" => "16KP",
            "height" => "16KP"}.freeze
  FORMATS = {"image/png" => "png", "image/jpeg" => "jpeg", "image/gif" => "gif", "image/webp" => "webp"}.freeze

  MiniMagick.configure do |config|
    config.timeout = 10 # seconds
    config.cli_env = {"PATH" => "/usr/bin:/bin"}
  end

  # What {Pelton::Web::Uploads#keep} takes.
  Image = Struct.new(:tempfile, :width, :height) do
    def path = tempfile.path
  end

  # @param kind [String] the image's type: its name and its first bytes are not asked
  # @param size [String] of ImageMagick
  # @param crop [String, nil] the part that is left, from the middle
  # @yieldparam image [Image] WebP
  # @raise [Failed]
  # @asynchronous
  def self.make(path, kind, size, crop: nil)
    Tempfile.create(["thumbnail", ".webp"]) do |file|
      width, height = Pelton.offload { convert("#{FORMATS.fetch(kind)}:#{path}[0]", file.path, size, crop) }
      yield Image.new(file, width, height)
    end
  end

  def self.convert(from, to, size, crop)
    MiniMagick.convert do |command|
      LIMITS.each { |name, value| command.limit(name, value) }
      command << from
      command.auto_orient.thumbnail(size).strip
      command.gravity("center").extent(crop) if crop
      command << "webp:#{to}"
    end
    MiniMagick.identify { |command| command.format("%w %h") << "webp:#{to}" }.split.map { |number| Integer(number) }
  rescue MiniMagick::Error, Timeout::Error => error
    raise Failed, reason(error.message)
  end

  # The first line is the command, with all its limits; what ImageMagick says comes after it.
  def self.reason(message)
    lines = message.lines.map(&:strip).reject(&:empty?)
    lines[1] || lines.first.to_s
  end
  private_class_method :convert, :reason
end
