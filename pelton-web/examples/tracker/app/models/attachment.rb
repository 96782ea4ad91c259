# app/models/attachment.rb
# frozen_string_literal: true

class Attachment < Pelton::Record::Model
  TYPES = %w[image/png image/jpeg application/pdf text/plain].freeze
  LARGEST = 5 << 20 # bytes

  belongs_to :issue
  after_commit(on: :destroy) { Tracker.settings.uploads.delete(file) }
end
