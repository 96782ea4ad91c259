# frozen_string_literal: true

# A file that was sent with a message. Its name is the client's, its kind was found in its bytes: browsers show images,
# PDF, audio, video and plain text, and store all others.
class Attachment < Sequel::Model
  IMAGES = %w[image/png image/jpeg image/gif image/webp].freeze
  LARGEST = 10 << 20 # bytes
  THUMBNAIL = "480x360>" # pixels

  many_to_one :message

  # A rollback brings the row back, but no file.
  def after_destroy
    super
    db.after_commit { [file, thumbnail].compact.each { |key| Chat.settings.uploads.delete(key) } }
  end

  def image? = IMAGES.include?(kind)

  # An image may be broken, or too large: the message says so then.
  #
  # @return [Boolean] whether there is one now
  # @asynchronous
  def make_thumbnail
    uploads = Chat.settings.uploads
    Thumbnail.make(uploads.path(file), kind, THUMBNAIL) do |image|
      update(thumbnail: uploads.keep(image), width: image.width, height: image.height)
    end
    !!message.illustrated
  rescue Thumbnail::Failed => error
    Pelton.logger.warn("attachment #{id} has no thumbnail: #{error.message}")
    update(problem: error.problem)
    message.illustrated
    false
  end
end
