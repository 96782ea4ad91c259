# frozen_string_literal: true

# Files of messages, for the members of their room alone.
class AttachmentsController < ApplicationController
  before_action :require_sign_in
  before_action :find_attachment

  def show
    send_upload @attachment.file, type: @attachment.kind, filename: @attachment.name, disposition: "inline"
  end

  def thumbnail
    raise Pelton::Web::NotFound unless @attachment.thumbnail
    expires_in 30 * 86_400
    send_upload @attachment.thumbnail, type: "image/webp", filename: "thumbnail.webp", disposition: "inline"
  end

  private

  def find_attachment
    find_room
    @attachment = Attachment.with_pk!(params.integer(:id))
    raise Pelton::Web::NotFound unless @attachment.message.room_id == @room.id
  end
end
